"""Forms of the knowledge pages."""
