"""The first start: create a project, its administrator, and a key for this machine, unless they exist."""

from pathlib import Path

from django.db import transaction

from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.keys import make_api_key, valid_key
from timemachine.core.accounts.models import ADMIN, SCOPES, Membership, Project, User
from timemachine.core.database import lock_until_commit
from timemachine.core.pure.home import write_private

FIRST_PROJECT = "My project"
FIRST_EMAIL = "admin@localhost"
LOCAL_KEY = "the timemachine command on the server's machine"


@transaction.atomic
def first_run(key_file: Path | None = None) -> User:
    """Create a project with an administrator unless they exist, and a key for this machine's `timemachine` command.

    Return the administrator.

    The key is created if `key_file` is given and does not contain a valid key. Safe to run repeatedly and concurrently.
    """
    lock_until_commit("the first start")
    project = queries.first_project() or Project.objects.create(name=FIRST_PROJECT)
    administrator = queries.first_administrator() or _first_administrator(project)
    if key_file is not None and not _has_valid_key(key_file):
        _, text = make_api_key(project, name=LOCAL_KEY, scopes=SCOPES, never_expires=True)
        write_private(key_file, text + "\n")
    return administrator


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
