"""The database backend of the application's own connection."""
