"""The vault on disk and in git."""
