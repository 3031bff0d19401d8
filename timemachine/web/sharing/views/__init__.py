"""Views of the sharing pages."""
