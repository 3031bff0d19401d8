"""Pages: knowledge."""
