"""Use another broker in the process of a test, and read or run what is queued."""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from timemachine.config.celery import app as queue
from timemachine.core.jobs import Job
from timemachine.core.pure.queue_names import QUEUES
from timemachine.jobs import registry

IN_MEMORY: dict[str, Any] = {"broker_url": "memory://", "broker_transport_options": {}}


def use_broker(configuration: dict[str, Any]) -> None:
    """Switch the queue to these settings and drop its connections to the previous broker."""
    queue.conf.update(configuration)
    queue._pool = None  # type: ignore[attr-defined]  # the stubs leave out what is not public
    queue.amqp._producer_pool = None  # type: ignore[attr-defined]  # the same


def received() -> list[tuple[str, list[str]]]:
    """Take every message out of the queues: the name of its job, and the ids."""
    with queue.connection_for_read() as connection:
        return [each for name in QUEUES for each in _received(connection, name)]


def _received(connection: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    with connection.SimpleQueue(name) as waiting:
        while waiting.qsize():
            message = waiting.get(timeout=60)
            message.ack()
            yield message.headers["task"].rpartition(".")[2], message.payload[0]


@contextmanager
def tending(look: Callable[[], None]) -> Generator[None]:
    """Call `look` in a thread: at the start, whenever something is enqueued in memory, and twice a second, because work may become due."""
    stop = threading.Event()

    def tend() -> None:
        seen, looked_at = -1, 0.0
        with queue.connection_for_read() as broker:
            queues = [broker.SimpleQueue(name) for name in QUEUES]
            while not stop.wait(0.02):
                size = sum(each.qsize() for each in queues)
                if size != seen or time.monotonic() - looked_at > 0.5:
                    look()
                    seen, looked_at = size, time.monotonic()
        connection.close()

    thread = threading.Thread(target=tend)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def run(job: Job, *ids: Any) -> None:
    """Run a job and all that it enqueues next, in this process."""
    for following, following_id in job(*ids):
        run(following, following_id)


def run_overdue(jobs: Iterable[Job]) -> None:
    """Run the due work of these jobs in this process."""
    for job in jobs:
        for each in registry.overdue(job):
            run(job, each)
