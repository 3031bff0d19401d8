"""Pages: settings."""
