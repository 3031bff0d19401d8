"""Statements that a connection prepares after running them a few times (`prepare_threshold` in the settings).

A find in a small collection takes less time than parsing and planning its statements. Postgres may choose one
plan for all parameters of a statement, so a value that needs another plan (the collection) belongs in the
statement's text.

Waiting for an answer costs more than most of these statements. Inside `pipelined_transaction` they are sent one after
another, and only reading the rows waits.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import PipelineAborted


@dataclass(frozen=True, slots=True)
class PendingRows:
    """A statement that was sent; outside `pipelined_transaction` it has already been answered."""

    _cursor: psycopg.Cursor[tuple[Any, ...]]
    _errors: AbstractContextManager[Any]

    def rows(self) -> list[tuple[Any, ...]]:
        """Return all rows as soon as they arrive. Call it once. `jsonb` is returned as text, as everywhere in
        Django.
        """
        with self._errors, self._cursor as cursor:
            return cursor.fetchall()


@contextmanager
def pipelined_transaction() -> Iterator[None]:
    """Run the statements that are sent here in one transaction. Errors appear when rows are read, or at the end.

    Uses libpq's pipeline: everything between two syncs is a transaction without `BEGIN` and `COMMIT`, and each
    statement sees what was committed before it. Inside another transaction this is a savepoint, and each
    statement is waited for.
    """
    here = _connection()
    if here.in_atomic_block:
        with transaction.atomic():
            yield
    else:
        with here.wrap_database_errors, here.connection.pipeline() as sent:
            try:
                yield
            except BaseException:
                with suppress(PipelineAborted):  # what was sent after the statement that failed
                    sent.sync()
                raise


def send(sql: str, facts: Mapping[str, Any], *, binary: bool = False) -> PendingRows:
    """Send a statement with server-side parameters. `binary` returns its rows in binary, for many numbers."""
    here = _connection()
    if here.queries_logged:
        here.queries_log.append({"sql": sql, "time": "0"})  # where Django's own cursors log statements
    with here.wrap_database_errors:
        cursor = psycopg.Cursor(here.connection)
        return PendingRows(cursor.execute(sql, facts, binary=binary), here.wrap_database_errors)


def fetch_rows(sql: str, facts: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return all rows of a statement with server-side parameters."""
    return send(sql, facts).rows()


def _connection() -> BaseDatabaseWrapper:
    """Return this thread's connection. Each lookup through `django.db.connection` costs as much as reading a row."""
    here = connections[DEFAULT_DB_ALIAS]
    here.ensure_connection()
    return here
