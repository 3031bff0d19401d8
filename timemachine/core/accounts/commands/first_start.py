"""The first start: create a project, its administrator, and a key for this machine, unless they exist."""

from dataclasses import dataclass
from pathlib import Path

from django.db import connection, transaction

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.keys import make_api_key, valid_key
from timemachine.core.accounts.models import ADMIN, SCOPES, Membership, Project, User
from timemachine.core.pure.home import write_private

FIRST_PROJECT = "My project"
FIRST_EMAIL = "admin@localhost"
LOCAL_KEY = "the timemachine command on the server's machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStart:
    """The result: the project, its administrator, and whether this machine got a new key."""

    project: Project
    administrator: User
    made_key: bool


@transaction.atomic
def first_run(key_file: Path | None = None) -> FirstStart:
    """Create a project with an administrator unless they exist, and a key for this machine's `timemachine` command.

    The key is created if `key_file` is given and does not contain a valid key. Safe to run repeatedly and concurrently.
    """
    _one_at_a_time()
    project = queries.first_project() or Project.objects.create(name=FIRST_PROJECT)
    administrator = queries.first_administrator() or _first_administrator(project)
    made_key = key_file is not None and not _has_valid_key(key_file)
    if key_file is not None and made_key:
        _, text = make_api_key(project, name=LOCAL_KEY, scopes=SCOPES)
        write_private(key_file, text + "\n")
    return FirstStart(project=project, administrator=administrator, made_key=made_key)


def _first_administrator(project: Project) -> User:
    user, new = User.objects.get_or_create(email=FIRST_EMAIL, defaults={"name": "Administrator"})
    if new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    Membership.objects.update_or_create(project=project, user=user, defaults={"role": ADMIN})
    return user


def _has_valid_key(key_file: Path) -> bool:
    try:
        return valid_key(key_file.read_text(encoding="utf-8")) is not None
    except (OSError, UnicodeDecodeError):
        return False


def _one_at_a_time() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('the first start', 0))")
