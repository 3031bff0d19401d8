"""Framework-free parts of `timeline`."""
