"""The Python recorder."""
