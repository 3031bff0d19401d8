"""Fast password hashing for tests, because the hash is not what is tested."""

import pytest
from pytest_django.fixtures import Settings


@pytest.fixture(autouse=True)
def fast_hash(settings: Settings) -> None:
    """Use one round instead of a million."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
