"""Prepare the database before anything starts: migrations and a first administrator."""

import json
from pathlib import Path
from typing import Any, Final

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, DatabaseError
from psycopg.errors import InsufficientPrivilege

from timemachine.core.accounts.commands.first_start import first_run
from timemachine.core.accounts.commands.links import make_sign_in_link, sign_in_url
from timemachine.core.accounts.models import User
from timemachine.core.database import failure_of, lock_when_free
from timemachine.core.database_roles import (
    application_rights,
    create_application_role,
    grant_to_application,
    has_owner_connection,
    owner_alias,
)
from timemachine.core.pure.database_requirements import Unsuitable
from timemachine.core.pure.home import local_key_file
from timemachine.core.pure.secret_settings import secret_keys
from timemachine.core.requirements import check_database, check_same_database
from timemachine.jobs.queue import create_queues

_LOCK: Final = "the preparation of the database"


class Command(BaseCommand):
    """Migrate, set up a first start, then print one line of JSON."""

    help = "Migrate the database, set up a first start, and print a one-time sign-in link."

    # check the operator's settings; the other checks import every page
    requires_system_checks = ("environment",)

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--no-local-key`, for servers without the `timemachine` command."""
        parser.add_argument(
            "--no-local-key", action="store_true", help="do not create an API key for this machine"
        )

    def handle(self, *_: Any, no_local_key: bool = False, **__: Any) -> None:
        """Print the answer to standard output and everything else to standard error.

        If several run at the same time, one prepares and the others wait for it.
        """
        if no_local_key and not secret_keys():
            raise CommandError(
                "SECRET_KEY is not set. Set it to 50 random characters, the same for every program of this server, "
                "or SECRET_KEY_FILE to a file with them."
            )
        Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # WhiteNoise warns without it
        try:
            check_database(owner_alias())
            with lock_when_free(_LOCK, waiting=self._say_that_it_waits, using=owner_alias()):
                administrator = self._prepare(None if no_local_key else local_key_file())
        except Unsuitable as why:
            raise CommandError(why.message) from why
        except (DatabaseError, psycopg.Error) as why:
            sentence = _sentence(why)
            if sentence is None:
                raise
            raise CommandError(sentence) from why
        self.stdout.write(json.dumps({"sign_in_url": sign_in_url(make_sign_in_link(administrator))}))

    def _prepare(self, key_file: Path | None) -> User:
        if has_owner_connection():
            create_application_role()
            check_same_database()
        call_command("migrate", database=owner_alias(), interactive=False, verbosity=1, stdout=self.stderr)
        create_queues(using=owner_alias())
        if has_owner_connection():
            grant_to_application()
            rights = application_rights()
            if rights.revoke:
                self.stderr.write(rights.sentence)
        return first_run(key_file)

    def _say_that_it_waits(self) -> None:
        self.stderr.write("Another process is preparing the database. Waiting for it …")


def _sentence(why: Exception) -> str | None:
    """Return what an operator has to do, or None if the error is ours."""
    refusal = _refusal_in(why)
    if refusal:
        first_line = str(refusal).partition("\n")[0]
        user = settings.DATABASES[owner_alias()]["USER"]
        if "create role" in first_line:
            role = settings.DATABASES[DEFAULT_DB_ALIAS]["USER"]
            return (
                f"The role {role} in DATABASE_URL does not exist, and {user} is not allowed to create roles: "
                f"have a superuser run `CREATE ROLE {role} LOGIN PASSWORD '…'`."
            )
        if "extension" in first_line:
            return f"The user {user} is not allowed to create extensions: have a superuser run `CREATE EXTENSION vector` in this database once."
        return f"The user {user} lacks a permission ({first_line}): grant it, or make this user the owner of the database."
    failure = failure_of(why)
    return f"{failure.cause} It says: {failure.details}" if failure else None


def _refusal_in(why: BaseException | None) -> InsufficientPrivilege | None:
    """Return the missing permission that led to an error; Django may wrap it twice."""
    while why is not None and not isinstance(why, InsufficientPrivilege):
        why = why.__cause__ or why.__context__
    return why
