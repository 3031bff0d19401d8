"""Statements that a connection prepares once it has made them a few times (`prepare_threshold` in the settings).

A find over a small collection takes less time than parsing and planning its statements. Postgres may settle on one plan for
all facts of a statement, so what calls for another plan (the collection) belongs in its text.

To wait for an answer costs more than most of these statements: in `one_transaction` they are sent one behind the other, and only
who reads the rows of one waits.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from pgvector import HalfVector
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper, HalfVectorDumper
from psycopg.errors import PipelineAborted


def send_vectors_as_they_are() -> None:
    """Let the connections made from now on send a `HalfVector` as its bytes: to write and read it as text takes a tenth of a find."""
    for dumper in (HalfVectorDumper, HalfVectorBinaryDumper):  # where both fit, the last one is taken
        psycopg.adapters.register_dumper(HalfVector, dumper)


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement that was sent, outside of `one_transaction` one that was answered."""

    _cursor: psycopg.Cursor[tuple[Any, ...]]
    _errors: AbstractContextManager[Any]

    def rows(self) -> list[tuple[Any, ...]]:
        """All its rows, as soon as they are there; to be called once. `jsonb` comes as text, as everywhere in Django."""
        with self._errors, self._cursor as cursor:
            return cursor.fetchall()


@contextmanager
def one_transaction() -> Iterator[None]:
    """What is asked here is one transaction; an error shows where the rows are read, or at its end.

    Libpq's pipeline: what lies between two of its syncs is a transaction without `BEGIN` and `COMMIT`, and every statement of it
    sees what was committed before it. Inside of another transaction it is a savepoint, and every statement is waited for.
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
                with suppress(PipelineAborted):  # what was sent behind a statement that failed
                    sent.sync()
                raise


def ask(sql: str, facts: Mapping[str, Any], *, binary: bool = False) -> Asked:
    """Send a statement, whose facts are bound by the server; `binary` is how its rows come: for many numbers."""
    here = _connection()
    if here.queries_logged:
        here.queries_log.append({"sql": sql, "time": "0"})  # where Django's own cursors tell what was asked
    with here.wrap_database_errors:
        cursor = psycopg.Cursor(here.connection)
        return Asked(cursor.execute(sql, facts, binary=binary), here.wrap_database_errors)


def rows(sql: str, facts: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """All rows of a statement, whose facts are bound by the server."""
    return ask(sql, facts).rows()


def _connection() -> BaseDatabaseWrapper:
    """This thread's connection itself: each look through `django.db.connection` costs as much as a row."""
    here = connections[DEFAULT_DB_ALIAS]
    here.ensure_connection()
    return here
