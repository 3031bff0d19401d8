"""Shared fixtures for tests of notes."""

from tests.api.conftest import api, stranger

__all__ = ["api", "stranger"]
