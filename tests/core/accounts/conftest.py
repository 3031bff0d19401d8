"""Accounts in tests: passwords are hashed fast, because what is tested is not the hash."""

import pytest
from pytest_django.fixtures import Settings


@pytest.fixture(autouse=True)
def fast_hash(settings: Settings) -> None:
    """One round instead of a million."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
