"""Framework-free parts of `sessions`."""
