"""Tests read and write rows with the role of the application, as the product does. Only `as_owner` changes tables."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, transaction
from django.db.backends.utils import CursorWrapper

import timemachine
from timemachine.jobs.queue import create_queues

APPLICATION: Final = "timemachine_app"
OPTIONS: Final = f"-c role={APPLICATION}"
"""The connection option with which the superuser of the tests gives up its rights."""
_CREATE: Final = f"""
DO $$ BEGIN
    CREATE ROLE {APPLICATION} LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN  -- another process of the run was faster
END $$
"""


@transaction.atomic
def grant() -> None:
    """Create the role and let it read and write rows, as `timemachine manage prepare` does.

    It also sees what other connections wait for, which would otherwise need `timemachine_app` as the user of the connection.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CREATE)
        create_queues(using=DEFAULT_DB_ALIAS)
        cursor.execute(f"GRANT pg_read_all_stats TO {APPLICATION}")
        cursor.execute("SELECT set_config('timemachine.application_role', %s, true)", [APPLICATION])
        cursor.execute((Path(timemachine.__path__[0]) / "sql" / "grants.sql").read_text())


def connect_as_application() -> None:
    """Have this process and all its threads connect as the application from now on."""
    connection.close()
    connection.settings_dict["OPTIONS"]["options"] = OPTIONS


def connect_as_owner() -> None:
    """Connect with the rights of the owner again."""
    connection.close()
    del connection.settings_dict["OPTIONS"]["options"]


@contextmanager
def as_owner() -> Iterator[CursorWrapper]:
    """Yield a cursor of the owner of the tables; what else uses the connection meanwhile has the rights, too."""
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE NONE")
        try:
            yield cursor
        finally:
            with suppress(DatabaseError):  # the test's transaction failed, and its end resets the role
                cursor.execute("RESET ROLE")
