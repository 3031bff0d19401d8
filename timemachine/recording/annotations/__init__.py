"""Notes on steps and their adjusted significance: added after recording, and stored separately from the record."""
