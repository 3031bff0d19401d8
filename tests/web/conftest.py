"""Pages in tests."""

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings


@pytest.fixture(autouse=True)
def fast_hash(settings: Settings) -> None:
    """One round instead of a million."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def nothing_collected(settings: Settings, tmp_path: Path) -> None:
    """A folder for collected static files: there is none before `collectstatic`, and WhiteNoise warns of that."""
    settings.STATIC_ROOT = str(tmp_path)
