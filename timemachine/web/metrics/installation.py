"""The metrics of the installation as a whole. They are read at most every few seconds, however many ask."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from threading import Lock
from time import monotonic
from typing import Any, Final

from django.db import DatabaseError, InterfaceError, connection
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from timemachine.core.database import failure_of
from timemachine.core.jobs import JOBS
from timemachine.core.migration_state import pending_migrations
from timemachine.core.pure.clock import now
from timemachine.core.pure.home import home
from timemachine.core.replica import has_replica, replica_state
from timemachine.governance.audit_log.queries import events_behind
from timemachine.jobs import workers
from timemachine.jobs.models import JobBacklog
from timemachine.jobs.queue import waiting_messages

FRESH_SECONDS: Final = 5
_TABLES: Final = "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relid = 'tm_action'::regclass"
_SIZE: Final = "SELECT pg_database_size(current_database())"
_CONNECTIONS: Final = """
SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1
"""
_MOST_CONNECTIONS: Final = "SELECT current_setting('max_connections')::int"
_OPEN_STEPS: Final = """
SELECT status, count(*), count(*) FILTER (WHERE lease_until < now())
FROM tm_replay_step WHERE status IN ('waiting', 'running', 'uncertain') GROUP BY 1
"""
"""Served by the partial index of steps that are not finished."""


class Installation(Collector):
    """Everything that is not counted in the web process. If the database is unreachable, only `timemachine_database_up` and disks."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._read_at = -float("inf")
        self._metrics: list[Metric] = []

    def collect(self) -> list[Metric]:
        """Return the metrics, read again if they are older than `FRESH_SECONDS`."""
        with self._lock:
            if monotonic() - self._read_at > FRESH_SECONDS:
                self._metrics = [*_process(), *_disks(), *_database()]
                self._read_at = monotonic()
            return self._metrics

    def describe(self) -> list[Metric]:
        """Return nothing, so that registering it reads nothing."""
        return []


def _process() -> Iterator[Metric]:
    info = GaugeMetricFamily("timemachine_info", "The version that runs.", labels=("version",))
    info.add_metric((version("timemachine"),), 1)
    yield info


def _disks() -> Iterator[Metric]:
    free = GaugeMetricFamily(
        "timemachine_disk_free_bytes",
        "Free bytes on the disk of a folder of the web server.",
        labels=("folder",),
    )
    for name, folder in (("data", home()), ("temporary", tempfile.gettempdir())):
        with suppress(OSError):
            free.add_metric((name,), shutil.disk_usage(folder).free)
    yield free


def _database() -> Iterator[Metric]:
    up = GaugeMetricFamily(
        "timemachine_database_up", "1 if the database answers the queries of these metrics."
    )
    try:
        found = [*_migrated()]
    except (DatabaseError, InterfaceError) as why:
        if failure_of(why) is None:
            raise
        up.add_metric((), 0)
        yield up
        return
    up.add_metric((), 1)
    yield up
    yield from found


def _migrated() -> Iterator[Metric]:
    missing = len(pending_migrations())
    pending = GaugeMetricFamily("timemachine_migrations_pending", "Migrations that the database lacks.")
    pending.add_metric((), missing)
    yield pending
    yield from _replica()
    if not missing:  # or there may be no tables to read
        yield from (*_work(), *_queue(), *_replays(), *_forwarding(), *_storage())


def _replica() -> Iterator[Metric]:
    up = GaugeMetricFamily("timemachine_replica_up", "1 if the replica answers.")
    behind = GaugeMetricFamily(
        "timemachine_replica_behind_bytes", "Bytes of the log of the database that the replica lacks."
    )
    if has_replica():
        state = replica_state()
        up.add_metric((), int(state.behind is not None))
        if state.behind is not None:
            behind.add_metric((), state.behind)
    yield from (up, behind)


def _work() -> Iterator[Metric]:
    families = {
        name: GaugeMetricFamily(f"timemachine_job_{name}", text, labels=("kind",))
        for name, text in (
            (
                "waiting",
                "Rows of work that no worker holds, at the last sweep; at most 100 of each kind of seal.",
            ),
            ("leases_held", "Rows of work that a worker holds."),
            ("leases_expired", "Rows of work whose worker was lost, and that another one will take."),
            ("oldest_waiting_seconds", "How long ago the longest waiting work was requested."),
        )
    }
    moment = now()
    rows = list(JobBacklog.objects.order_by("job"))
    for row in rows:
        families["waiting"].add_metric((row.job,), row.waiting)
        if row.held is not None and row.expired is not None:
            families["leases_held"].add_metric((row.job,), row.held)
            families["leases_expired"].add_metric((row.job,), row.expired)
        if row.oldest_since:
            age = (moment - row.oldest_since).total_seconds()
            families["oldest_waiting_seconds"].add_metric((row.job,), max(age, 0))
    yield from families.values()
    swept = GaugeMetricFamily(
        "timemachine_sweep_age_seconds", "Seconds since a worker looked for work that waits."
    )
    if rows:
        swept.add_metric((), max((moment - max(row.measured_at for row in rows)).total_seconds(), 0))
    yield swept
    running = GaugeMetricFamily("timemachine_workers", "Workers that were seen in the last 45 seconds.")
    running.add_metric((), workers.running())
    yield running


def _queue() -> Iterator[Metric]:
    found = waiting_messages()
    if found is None:  # another broker has metrics of its own
        return
    labels = ("queue", "kind")
    messages = GaugeMetricFamily(
        "timemachine_queue_messages", "Messages that wait, at most 10,000 in each queue.", labels=labels
    )
    oldest = GaugeMetricFamily(
        "timemachine_queue_oldest_seconds", "How long the oldest message waits.", labels=labels
    )
    none = {(job.queue, job.name): (0, 0.0) for job in JOBS.values()}
    waiting = none | {(each.queue, each.job): (each.count, each.seconds) for each in found}
    for (queue, job), (count, seconds) in sorted(waiting.items()):
        messages.add_metric((queue, job), count)
        oldest.add_metric((queue, job), seconds)
    yield from (messages, oldest)


def _replays() -> Iterator[Metric]:
    steps = GaugeMetricFamily(
        "timemachine_replay_steps", "Steps of replays that are not finished.", labels=("status",)
    )
    expired = GaugeMetricFamily(
        "timemachine_replay_step_leases_expired", "Running steps of replays whose worker was lost."
    )
    found = {status: (count, lost) for status, count, lost in _rows(_OPEN_STEPS)}
    for status in ("waiting", "running", "uncertain"):
        steps.add_metric((status,), found.get(status, (0, 0))[0])
    expired.add_metric((), found.get("running", (0, 0))[1])
    yield from (steps, expired)


def _forwarding() -> Iterator[Metric]:
    behind = GaugeMetricFamily(
        "timemachine_audit_events_behind",
        "Events of audit logs that a destination has not accepted yet.",
        labels=("destination",),
    )
    for destination, count in events_behind().items():
        behind.add_metric((destination,), count)
    yield behind


def _storage() -> Iterator[Metric]:
    recorded = CounterMetricFamily(
        "timemachine_actions_recorded", "Actions that were written, as PostgreSQL counts them."
    )
    recorded.add_metric((), _one(_TABLES))
    size = GaugeMetricFamily("timemachine_database_size_bytes", "Bytes of the database on its disk.")
    size.add_metric((), _one(_SIZE))
    used = GaugeMetricFamily(
        "timemachine_database_connections", "Connections to the database.", labels=("state",)
    )
    for state, count in _rows(_CONNECTIONS):
        used.add_metric((state,), count)
    most = GaugeMetricFamily("timemachine_database_connections_max", "Connections that the database allows.")
    most.add_metric((), _one(_MOST_CONNECTIONS))
    yield from (recorded, size, used, most)


def _rows(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def _one(sql: str) -> float:
    rows = _rows(sql)
    return float(rows[0][0]) if rows else 0.0
