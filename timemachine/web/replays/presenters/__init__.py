"""Presenters of the replay, sweep and suite pages."""
