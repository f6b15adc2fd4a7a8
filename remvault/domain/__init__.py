"""The pure core: text in, values out; no clock, no files, no environment."""
