"""What the first start creates, and every later one finds."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection

from tests.core.accounts.people import member
from timemachine.core.accounts.commands.first_start import first_run
from timemachine.core.accounts.commands.keys import authenticate_key, revoke_api_key
from timemachine.core.accounts.models import SCOPES, ApiKey, Membership, Project, User


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """Return the path from which the local command reads its key."""
    return tmp_path / "home" / "local-key"


def test_the_first_start_creates_a_project_an_administrator_and_a_key(db: None, key_file: Path) -> None:
    administrator = first_run(key_file)
    project = Project.objects.get(name="My project")
    assert [(one.user, one.role) for one in project.memberships.all()] == [(administrator, "admin")]
    assert not administrator.has_usable_password()
    key = authenticate_key(key_file.read_text())
    assert (key.project, key.scopes, key.expires_at) == (project, list(SCOPES), None)
    assert key_file.stat().st_mode & 0o777 == 0o600


def test_a_later_start_creates_nothing(db: None, key_file: Path) -> None:
    first = first_run(key_file)
    written = key_file.read_text()
    assert first_run(key_file) == first
    assert key_file.read_text() == written
    assert (Project.objects.count(), User.objects.count(), ApiKey.objects.count()) == (1, 1, 1)


def lost(key_file: Path) -> None:
    key_file.unlink()


def revoked(_key_file: Path) -> None:
    revoke_api_key(ApiKey.objects.get())


def of_another_database(_key_file: Path) -> None:
    ApiKey.objects.all().delete()


def not_a_key(key_file: Path) -> None:
    key_file.write_bytes(b"\xff\xfe")


@pytest.mark.parametrize("spoilt", [lost, revoked, of_another_database, not_a_key])
def test_an_invalid_key_is_replaced(db: None, key_file: Path, spoilt: object) -> None:
    first_run(key_file)
    assert callable(spoilt)
    spoilt(key_file)
    first_run(key_file)
    assert authenticate_key(key_file.read_text())
    assert Project.objects.count() == 1


def test_a_server_without_a_local_command_gets_no_key(db: None) -> None:
    first_run(None)
    assert not ApiKey.objects.exists()


def test_the_administrator_is_the_longest_standing_one(project: Project) -> None:
    member(project, "operator")
    administrator = member(project, "admin").user
    member(project, "admin", "later@example.org")
    assert first_run() == administrator


def test_a_server_without_an_administrator_gets_one_again(project: Project) -> None:
    administrator = first_run()
    assert administrator.memberships.get().project == project
    Membership.objects.update(role="viewer")
    assert first_run() == administrator
    assert Membership.objects.get().role == "admin"


@pytest.mark.django_db(transaction=True)
def test_two_simultaneous_starts_create_one_project(key_file: Path) -> None:
    def started(_: int) -> User:
        try:
            return first_run(key_file)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(started, range(4)))) == 1
    assert (Project.objects.count(), User.objects.count(), ApiKey.objects.count()) == (1, 1, 1)
