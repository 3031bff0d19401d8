"""Whether two connections lead to the same database."""

from __future__ import annotations

from secrets import randbits
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection


def is_same_database(first: Connection[Any], second: Connection[Any]) -> bool:
    """Return whether a lock that one connection holds is not free for the other. This needs no rights, and tells a database
    from its copy, which has the same identifiers.
    """
    name = randbits(62)
    with first.transaction():
        first.execute("SELECT pg_advisory_xact_lock(%s)", [name])
        with second.transaction():
            row = second.execute("SELECT pg_try_advisory_xact_lock(%s)", [name]).fetchone()
    return row == (False,)
