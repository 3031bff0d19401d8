"""Views of the comparisons pages."""
