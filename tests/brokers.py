"""The queue on another broker, in the process of a test."""

from typing import Any

from timemachine.config.celery import app as queue


def use_broker(configuration: dict[str, Any]) -> None:
    """Have the queue use these settings from now on: what it made for the broker before is let go."""
    queue.conf.update(configuration)
    queue._pool = None  # type: ignore[attr-defined]  # the stubs leave out what is not public
    queue.amqp._producer_pool = None  # type: ignore[attr-defined]  # the same
