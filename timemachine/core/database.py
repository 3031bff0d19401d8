"""A snapshot of the database, a row by its id, a lock by name, and why the database failed."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import sleep
from typing import Any, Final
from uuid import UUID

import psycopg
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    InternalError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.db.models import Model, QuerySet
from psycopg.errors import ReadOnlySqlTransaction
from psycopg_pool import PoolTimeout

from timemachine.core.connecting import PooledConnection
from timemachine.core.pure import database_failures
from timemachine.core.pure.database_failures import Failure
from timemachine.core.pure.errors import NotFound, TimeMachineError
from timemachine.core.pure.ids import uuid_of

_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(%s::text[]) AS name"
_LOCK_PAUSE: Final = 0.2  # seconds
_DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_WITHOUT_CONNECTION: Final = (
    OperationalError,
    InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
)

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
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    except InternalError as why:
        written_to = isinstance(why.__cause__, ReadOnlySqlTransaction)
        if not written_to:
            raise
        raise RuntimeError("A snapshot cannot be written to.") from why  # the database itself can


def lock_until_commit(*names: str) -> None:
    """Wait until no other transaction holds a lock with one of these names, and hold them until this one ends.

    They are taken in alphabetical order, so that two transactions never wait for each other.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [sorted(set(names))])


@contextmanager
def lock_if_free(name: str, *, using: str = DEFAULT_DB_ALIAS) -> Iterator[bool]:
    """Hold the lock with this name on this connection, across transactions, and yield True; yield False if another
    process holds it. A killed process releases it.
    """
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [name])
        held = bool(cursor.fetchone()[0])
    try:
        yield held
    finally:
        if held:
            with connections[using].cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [name])


@contextmanager
def lock_when_free(name: str, *, waiting: Callable[[], None], using: str) -> Iterator[None]:
    """Hold the lock as `lock_if_free` does, as soon as no other process holds it; call `waiting` once if one does.

    It asks again and again, because a statement that waits would keep `CREATE INDEX CONCURRENTLY` from finishing.
    """
    has_waited = False
    while True:
        with lock_if_free(name, using=using) as is_free:
            if is_free:
                yield
                return
        if not has_waited:
            waiting()
        has_waited = True
        sleep(_LOCK_PAUSE)


def failure_of(error: BaseException | None) -> Failure | None:
    """Return why the database or a disk did not accept what it may accept later. None for every other error."""
    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        return replace(database_failures.DISK_FULL, details=str(error))
    if not isinstance(error, DatabaseError | InterfaceError | psycopg.Error):
        return None
    cause = error.__cause__ if isinstance(error.__cause__, psycopg.Error) else error
    if isinstance(cause, PoolTimeout):
        return _pool_failure(cause)
    sqlstate = getattr(cause, "sqlstate", None)
    if sqlstate is None and not isinstance(error, _WITHOUT_CONNECTION):
        return None
    return database_failures.failure_from(sqlstate, str(error))


def _pool_failure(why: PoolTimeout) -> Failure:
    """Return why the pool has no connection: none can be opened, or all are in use."""
    connecting = PooledConnection.last_failure
    if connecting is None:
        return replace(database_failures.CONNECTIONS_USED_UP, details=str(why))
    return failure_of(connecting) or database_failures.AWAY


def rejection(why: DatabaseError, what: str) -> TimeMachineError:
    """Return why the database did not store `what`: its failure, or the first line of what it said."""
    failure = failure_of(why)
    if failure:
        return TimeMachineError(failure.cause, code=failure.code)
    first_line = str(why).partition("\n")[0]
    return TimeMachineError(f"The database rejected the {what}: {first_line.rstrip('.')}.", code="not_kept")


def row_of[Row: Model](rows: QuerySet[Row], row_id: str | UUID, missing: NotFound) -> Row:
    """Return the row with that id. Raises `missing` if no row has it, or if the text is not an id."""
    id_ = uuid_of(str(row_id))
    found = rows.filter(pk=id_).first() if id_ else None
    if found is None:
        raise missing
    return found
