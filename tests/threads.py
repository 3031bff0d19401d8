"""Run part of a test in a thread with its own database connection."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import connections


def in_a_thread(pool: ThreadPoolExecutor, do: Callable[[], Any]) -> Future[Any]:
    def done() -> Any:
        try:
            return do()
        finally:
            connections.close_all()

    return pool.submit(done)
