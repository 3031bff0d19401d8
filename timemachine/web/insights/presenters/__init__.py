"""Presenters of the insights pages."""
