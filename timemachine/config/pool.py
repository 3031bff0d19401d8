"""The web server's connection pool, which survives a restart of the database.

Without the check, each connection that the old server had closed would fail one request, long after the new server is
up. Django's own check (`CONN_HEALTH_CHECKS`) would add a round trip to every request.
"""

import select
from functools import partial
from typing import Any, Final

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import Connection
from psycopg_pool import ConnectionPool

from timemachine.core.connecting import PooledConnection, ReplicaConnection

WAIT_SECONDS: Final = 2
"""How long a request waits for a connection. After that, the database counts as unreachable."""


def options(most: int, *, alias: str = DEFAULT_DB_ALIAS, wait: float = WAIT_SECONDS) -> dict[str, object]:
    """Return the options of a pool of at most `most` connections. A request waits so many seconds for one.

    Connecting is given up after as long as a request waits for it, and the next request tries again. Otherwise psycopg
    would double its pause up to five minutes, during which a database that is back would not be noticed.
    """
    return {
        "min_size": 1,
        "max_size": most,
        "timeout": wait,
        "reconnect_timeout": wait,
        "check": partial(check_open, alias=alias),
        "connection_class": PooledConnection if alias == DEFAULT_DB_ALIAS else ReplicaConnection,
    }


def check_open(connection: Connection[Any], *, alias: str = DEFAULT_DB_ALIAS) -> None:
    """Check that the server has not closed the connection. If it has, replace all others of the pool too.

    An idle connection has data to read only if it was closed or the server announces something. Only then is the server
    asked. Raises `OperationalError` if the connection is closed.
    """
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if not poll.poll(0):
        return
    try:
        ConnectionPool.check_connection(connection)
    except Exception:  # the other idle connections are probably broken, too
        connections[alias].pool.drain()  # type: ignore[attr-defined]  # Django's PostgreSQL backend has it
        raise
