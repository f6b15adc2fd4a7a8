"""remvault: long-term memory as Markdown files in git."""
