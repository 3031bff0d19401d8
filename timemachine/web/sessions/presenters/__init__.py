"""Presenters of the session pages."""
