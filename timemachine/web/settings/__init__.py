"""Pages of settings and accounts."""
