"""Statements that a connection prepares once it has made them a few times (`prepare_threshold` in the settings).

A find over a small collection takes less time than parsing and planning its statements. Postgres may settle on one plan for
all facts of a statement, so what calls for another plan (the collection) belongs in its text.
"""

from collections.abc import Mapping
from typing import Any

import psycopg
from django.db import connection
from pgvector import HalfVector
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper, HalfVectorDumper


def send_vectors_as_they_are() -> None:
    """Let the connections made from now on send a `HalfVector` as its bytes: to write and read it as text takes a tenth of a find."""
    for dumper in (HalfVectorDumper, HalfVectorBinaryDumper):  # where both fit, the last one is taken
        psycopg.adapters.register_dumper(HalfVector, dumper)


def rows(sql: str, facts: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """All rows of a statement, whose facts are bound by the server. `jsonb` comes as text, as everywhere in Django."""
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(sql, facts).fetchall()
