"""Pages: insights."""
