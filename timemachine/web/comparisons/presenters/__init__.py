"""Presenters of the comparison pages."""
