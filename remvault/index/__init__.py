"""The derived text index: always deletable, never stale."""
