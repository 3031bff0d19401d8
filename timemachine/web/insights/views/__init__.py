"""Views of the insights pages."""
