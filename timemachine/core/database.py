"""A snapshot of the database, a row by its id, a lock by name, and whether the database is available."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Model, QuerySet
from psycopg.errors import ProgramLimitExceeded

from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of

_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(%s::text[]) AS name"

type SqlParameters = dict[str, Any]
"""The named parameters of an SQL statement: whatever the driver can send."""


@contextmanager
def snapshot() -> Iterator[None]:
    """Read everything inside as of the first query, whatever others write; writing is not possible.

    Inside a running transaction this does nothing: its isolation level applies.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def lock_until_commit(*names: str) -> None:
    """Wait until no other transaction holds a lock with one of these names, and hold them until this one ends.

    They are taken in alphabetical order, so that two transactions never wait for each other.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [sorted(set(names))])


@contextmanager
def lock_if_free(name: str) -> Iterator[bool]:
    """Hold the lock with this name on this connection, across transactions, and yield True; yield False if another
    process holds it. A killed process releases it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [name])
        held = bool(cursor.fetchone()[0])
    try:
        yield held
    finally:
        if held:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [name])


def is_unavailable(error: BaseException | None) -> bool:
    """Return whether the database may accept later what it did not accept now. False if a value is too large for it."""
    return isinstance(error, OperationalError | InterfaceError) and not isinstance(
        error.__cause__, ProgramLimitExceeded
    )


def row_of[Row: Model](rows: QuerySet[Row], row_id: str | UUID, missing: NotFound) -> Row:
    """Return the row with that id. Raises `missing` if no row has it, or if the text is not an id."""
    id_ = uuid_of(str(row_id))
    found = rows.filter(pk=id_).first() if id_ else None
    if found is None:
        raise missing
    return found
