"""Resources of the HTTP API, as methods."""
