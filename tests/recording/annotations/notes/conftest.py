"""Fixtures that the tests of notes share."""

from tests.api.conftest import api, stranger

__all__ = ["api", "stranger"]
