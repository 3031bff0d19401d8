"""Pages: sharing."""
