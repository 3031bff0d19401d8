"""Enqueueing jobs. PostgreSQL is the source of truth: the sweep enqueues later what cannot be enqueued now."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from celery import current_app
from django.db import connection, connections, transaction
from kombu.exceptions import OperationalError

from timemachine.core.jobs import Job
from timemachine.core.pure.log_context import current
from timemachine.core.pure.queue_names import QUEUES
from timemachine.core.tracing import parent_headers

log = logging.getLogger(__name__)

REQUEST_ID: Final = "request_id"
_TABLES: Final = {queue: f"pgmq.q_tm_{queue}" for queue in QUEUES}
_COUNTED: Final = """
SELECT '{queue}', coalesce(message->'headers'->>'task', 'other'), count(*),
    extract(epoch FROM now() - min(enqueued_at))::float
FROM (SELECT message, enqueued_at FROM {table} WHERE vt <= now() ORDER BY vt LIMIT 10000) AS waiting GROUP BY 2
"""
_OLDEST: Final = """
(SELECT '{queue}', extract(epoch FROM now() - enqueued_at)::float FROM {table} WHERE vt <= now() ORDER BY vt LIMIT 1)
"""
_CREATE: Final = """
SELECT pgmq.create(%(name)s) WHERE NOT EXISTS (SELECT FROM pgmq.meta WHERE queue_name = %(name)s)
"""
_NOTIFY: Final = """
SELECT pgmq.enable_notify_insert(%(name)s, 0) WHERE NOT EXISTS (
    SELECT FROM pg_trigger WHERE tgrelid = to_regclass(%(table)s) AND tgname = 'trigger_notify_queue_insert_listeners'
)
"""
_DROP_FORMER: Final = """
DO $$
DECLARE
    is_empty boolean;
BEGIN
    IF to_regclass('pgmq.q_tm_celery') IS NOT NULL THEN
        SELECT NOT EXISTS (SELECT FROM pgmq.q_tm_celery) INTO is_empty;
        IF is_empty THEN
            PERFORM pgmq.drop_queue('tm_celery');
        END IF;
    END IF;
END $$
"""
"""Until there was a queue for each kind of job, all of them waited in Celery's default queue."""
_last_enqueued: Final[dict[tuple[str, Any], float]] = {}


def create_queues(*, using: str) -> None:
    """Create the queues in PostgreSQL unless they exist, and drop the one of earlier versions when it is empty.

    `using` is the connection of the owner of the tables.
    """
    with connections[using].cursor() as cursor:
        for queue, table in _TABLES.items():
            names = {"name": f"tm_{queue}", "table": table}
            cursor.execute(_CREATE, names)
            cursor.execute(_NOTIFY, names)
        cursor.execute(_DROP_FORMER)


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
        _send(job, ids)
    except (OperationalError, psycopg.Error, OSError) as why:
        log.warning(
            "the queue is unreachable; the sweep will enqueue %s for %s later: %s",
            job.name,
            ids or "this time",
            why,
        )
        return False
    return True


def _send(job: Job, ids: Sequence[Any]) -> None:
    """Send one message. If the connection was closed meanwhile, as after a restart of the broker, use another one."""
    message = (task_name(job), [str(each) for each in ids])
    options: dict[str, Any] = {"headers": _headers(), "queue": job.queue}
    try:
        current_app.send_task(*message, **options)
    except OperationalError as why:
        if not isinstance(why.__cause__, ConnectionResetError):
            raise
        current_app.send_task(*message, **options)


@dataclass(frozen=True, slots=True)
class WaitingMessages:
    """How many messages of a job wait in a queue, and for how many seconds the oldest does."""

    queue: str
    job: str
    count: int
    seconds: float


def waiting_messages() -> list[WaitingMessages] | None:
    """Return what waits, of at most 10,000 messages in each queue; None if the broker is not in this PostgreSQL."""
    rows = _in_queues(_COUNTED)
    if rows is None:
        return None
    return [
        WaitingMessages(queue, name.rpartition(".")[2], count, seconds)
        for queue, name, count, seconds in rows
    ]


def oldest_messages() -> dict[str, float]:
    """Return for how many seconds the oldest message of each queue waits. Without queues in which none does, and empty if
    the broker is not in this PostgreSQL.
    """
    return dict(_in_queues(_OLDEST) or ())


def _in_queues(statement: str) -> list[tuple[Any, ...]] | None:
    """Return the rows of a statement for each queue that had a message yet; None if the queues are elsewhere."""
    if not str(current_app.conf.broker_url).startswith("pgmq"):
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM unnest(%s::text[]) AS name WHERE to_regclass(name) IS NOT NULL",
            [[*_TABLES.values()]],
        )
        present = {name for (name,) in cursor.fetchall()}
        parts = [
            statement.format(queue=queue, table=table) for queue, table in _TABLES.items() if table in present
        ]
        if not parts:
            return []
        cursor.execute(" UNION ALL ".join(parts))
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
