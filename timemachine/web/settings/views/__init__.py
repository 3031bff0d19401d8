"""Views of the settings pages."""
