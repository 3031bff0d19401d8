"""Views of the sessions pages."""
