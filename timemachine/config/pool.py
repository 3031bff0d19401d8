"""The web server's pool of connections, which outlives a restart of its database.

Without the check each connection that the old server had closed would refuse one request, long after the new server is up. With
Django's own check (`CONN_HEALTH_CHECKS`) every request would wait for one more round trip.
"""

import select
from typing import Any, Final

from django.db import connections
from psycopg import Connection
from psycopg_pool import ConnectionPool

WAIT_SECONDS: Final = 2
"""Who waits for a connection for so long waits for a database that is away."""


def options(most: int) -> dict[str, Any]:
    """The options of a pool of at most so many connections.

    An attempt to connect is given up after as long as a request waits for it: the next request begins a new one at once, while psycopg
    would double its pause up to five minutes, for which a database that is back would not be asked.
    """
    return {
        "min_size": 1,
        "max_size": most,
        "timeout": WAIT_SECONDS,
        "reconnect_timeout": WAIT_SECONDS,
        "check": check_open,
    }


def check_open(connection: Connection[Any]) -> None:
    """Raise `OperationalError` where the server has closed the connection, and then replace all the others of the pool as well.

    An idle connection has nothing to read, unless it was closed or the server announces something, so only then is the server asked.
    """
    if not _has_something_to_read(connection):
        return
    try:
        ConnectionPool.check_connection(connection)
    except Exception:
        connections["default"].pool.drain()  # type: ignore[attr-defined]  # of Django's backend for PostgreSQL
        raise


def _has_something_to_read(connection: Connection[Any]) -> bool:
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
