"""Enqueueing jobs. PostgreSQL is the source of truth: the sweep enqueues later what cannot be enqueued now."""

import logging
import time
from typing import Any, Final

import psycopg
from celery import current_app
from django.db import connection, transaction
from kombu.exceptions import OperationalError

from timemachine.core.jobs import Job
from timemachine.core.pure.log_context import current
from timemachine.core.tracing import parent_headers

log = logging.getLogger(__name__)

REQUEST_ID: Final = "request_id"
_TABLE: Final = "pgmq.q_tm_celery"
_WAITING: Final = """
SELECT coalesce(message->'headers'->>'task', 'other'), count(*), extract(epoch FROM now() - min(enqueued_at))::float
FROM (SELECT message, enqueued_at FROM pgmq.q_tm_celery WHERE vt <= now() ORDER BY vt LIMIT 10000) AS waiting GROUP BY 1
"""
_OLDEST: Final = """
SELECT extract(epoch FROM now() - enqueued_at)::float FROM pgmq.q_tm_celery WHERE vt <= now() ORDER BY vt LIMIT 1
"""
_last_enqueued: Final[dict[tuple[str, Any], float]] = {}


def enqueue(job: Job, *ids: Any) -> None:
    """Enqueue a job for each of these ids after the transaction commits, with one message for all of them.

    A job is not enqueued during its `pause` after the last time, or if its `only_if` returns False. If the
    broker is unreachable, this is logged.
    """

    def enqueue_after_commit() -> None:
        enqueue_now(job, *(each for each in ids if not _is_paused(job, each)))

    if ids:
        transaction.on_commit(enqueue_after_commit)


def enqueue_now(job: Job, *ids: Any) -> None:
    """Enqueue a job for those ids that its `only_if` allows, without waiting for a commit."""
    allowed = [each for each in ids if job.only_if is None or job.only_if(each)]
    if allowed:
        send(job, *allowed)


def send(job: Job, *ids: Any) -> bool:
    """Send one message; return False if the broker is unreachable."""
    try:
        current_app.send_task(task_name(job), [str(each) for each in ids], headers=_headers())
    except (OperationalError, psycopg.Error, OSError) as why:
        log.warning(
            "the queue is unreachable; the sweep will enqueue %s for %s later: %s",
            job.name,
            ids or "this time",
            why,
        )
        return False
    return True


def message_counts() -> list[tuple[str, int, float]] | None:
    """Return each job with the number of its messages that wait, and for how many seconds the oldest does.

    None if the broker is not in this PostgreSQL. Counts at most 10,000 messages.
    """
    rows = _in_queue(_WAITING)
    return rows and [(name.rpartition(".")[2], count, seconds) for name, count, seconds in rows]


def oldest_message_seconds() -> float | None:
    """Return for how many seconds the oldest message waits; None if none does, or if the broker is not in this PostgreSQL."""
    rows = _in_queue(_OLDEST)
    return float(rows[0][0]) if rows else None


def _in_queue(sql: str) -> list[tuple[Any, ...]] | None:
    """Return the rows of a statement about the queue: none before its first message, None if it is elsewhere."""
    if not str(current_app.conf.broker_url).startswith("pgmq"):
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [_TABLE])
        if cursor.fetchone() == (None,):
            return []
        cursor.execute(sql)
        return list(cursor.fetchall())


def _headers() -> dict[str, str]:
    """Return what a message has besides its ids: the id of the request that enqueues the job, and its trace."""
    request_id = current().request_id
    return parent_headers() | ({REQUEST_ID: request_id} if request_id else {})


def task_name(job: Job) -> str:
    """Return the name of the job's Celery task."""
    return f"timemachine.jobs.{job.name}"


def _is_paused(job: Job, each: Any) -> bool:
    moment, key = time.monotonic(), (job.name, each)
    if job.pause and moment - _last_enqueued.get(key, -job.pause) < job.pause:
        return True
    if job.pause:
        _last_enqueued[key] = moment
    return False
