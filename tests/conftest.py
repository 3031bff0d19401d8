"""Fixtures that every room's tests may use."""

import os
from pathlib import Path

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.signals import post_migrate
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django.fixtures import Settings

from tests import crash_figures
from timemachine.accounts.models import Project

# nothing is timed in a test: a busy machine proves nothing about a law
hypothesis_settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("untimed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the crash lab saw, where it ran in this process."""
    for line in crash_figures.table():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> None:
    """Transactional tests empty the tables by TRUNCATE, which production refuses: switch those triggers off here.

    After each of them Django would also make its content types and permissions anew, which nothing here looks at.
    """
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)
    emptying = "SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE NOT tgisinternal AND tgtype & 32 > 0"
    with django_db_blocker.unblock(), connection.cursor() as cursor:  # type: ignore[attr-defined]  # pytest-django gives it no type
        cursor.execute(emptying)
        for table, trigger in cursor.fetchall():
            cursor.execute(f'ALTER TABLE {table} DISABLE TRIGGER "{trigger}"')


@pytest.fixture(autouse=True)
def fast_hash(settings: Settings) -> None:
    """One round instead of a million."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def project(db: None) -> Project:
    """A project of its own."""
    return Project.objects.create(name="Prüfung")


@pytest.fixture
def other_project(db: None) -> Project:
    """Somebody else's project."""
    return Project.objects.create(name="Somebody else's")


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder with recordings that none of us made."""
    named = os.environ.get("RECORDINGS_DIR", "")
    folder = Path(named)
    if named and folder.is_dir():
        return folder
    if os.environ.get("CI"):
        pytest.fail("RECORDINGS_DIR does not name the folder with the recordings")
    pytest.skip("set RECORDINGS_DIR to the folder with the recordings")
