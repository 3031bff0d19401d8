"""Run part of a test in a thread with its own database connection, and see whether it waits for a lock."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import connection, connections


def in_a_thread(pool: ThreadPoolExecutor, do: Callable[[], Any]) -> Future[Any]:
    def done() -> Any:
        try:
            return do()
        finally:
            connections.close_all()

    return pool.submit(done)


def blocked_queries() -> int:
    """Return how many connections to this test's database wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return int(cursor.fetchone()[0])
