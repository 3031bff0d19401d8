"""Pages: comparisons."""
