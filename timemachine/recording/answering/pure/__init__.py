"""Framework-free parts of `answering`."""
