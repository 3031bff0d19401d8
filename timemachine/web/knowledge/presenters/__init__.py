"""Presenters of the collection pages."""
