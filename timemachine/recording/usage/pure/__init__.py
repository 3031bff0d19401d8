"""Framework-free parts of `usage`."""
