"""Views of the knowledge pages."""
