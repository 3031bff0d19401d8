"""The jobs of all domains as Celery tasks. The sweep enqueues overdue work, and so does every worker when it starts."""

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any, Final

from celery import Task, current_app, shared_task
from celery.signals import worker_ready
from django.conf import settings
from django.db import DatabaseError
from django.db.models import QuerySet

import timemachine
from timemachine.core.database import failure_of
from timemachine.core.jobs import JOBS, Job
from timemachine.core.leases import Enqueued, mark_enqueued
from timemachine.core.pure.log_context import working_on
from timemachine.core.pure.queue_names import DEFAULT
from timemachine.core.tracing import JOB, span
from timemachine.jobs import workers  # noqa: F401  # its signals
from timemachine.jobs.backlog import measure, store
from timemachine.jobs.models import JobBacklog
from timemachine.jobs.queue import REQUEST_ID, enqueue_now, send, task_name

log = logging.getLogger(__name__)

SWEEP: Final = "timemachine.jobs.sweep"
type Rows = QuerySet[Any, Any] | Iterable[Any]


def run(job: Job, *ids: str) -> bool:
    """Run a job for the id in a message, then enqueue the jobs that it returns. Return False if the database or a disk failed.

    A message with several ids is split into one for each.
    """
    if len(ids) > 1:
        for each in ids:
            send(job, each)
        return True
    began = monotonic()
    try:
        next_jobs = job(*ids)
    except Exception as why:
        if not _logged_in_one_line(f"run {job.name} {' '.join(ids)}".strip(), why):
            raise
        return False
    if settings.LOG_REQUESTS:
        facts = {"milliseconds": round((monotonic() - began) * 1000)}
        log.info("%s %s in %s ms", job.name, " ".join(ids), facts["milliseconds"], extra={"facts": facts})
    for following, following_id in next_jobs:
        enqueue_now(following, following_id)
    return True


def _logged_in_one_line(what: str, why: Exception) -> bool:
    """Log a failure of the database or a disk with its cause; the sweep repeats the work. Return False for other errors."""
    failure = failure_of(why)
    if failure:
        log.error("cannot %s (%s): %s", what, failure.code, failure.details)
    return failure is not None


def overdue(job: Job, *, at_start: bool = False) -> list[Any]:
    """Return the ids for which a job is overdue, and mark `Enqueued` rows as enqueued."""
    return _ids(job, () if job.overdue is None else job.overdue(), at_start=at_start)


def _ids(job: Job, found: Rows, *, at_start: bool = False) -> list[Any]:
    if isinstance(found, QuerySet) and issubclass(found.model, Enqueued):
        return mark_enqueued(found, key=job.key, at_start=at_start)
    return list(found)


@shared_task(name=SWEEP)
def sweep() -> None:
    """Enqueue overdue work whose message or worker was lost, and store how much there is. If one job's rows cannot be
    read, the others are still enqueued.
    """
    backlog: list[JobBacklog] = []
    for job in list(JOBS.values()):
        if not _sweep_one(job, backlog):
            break
    if backlog:
        store(backlog)


def _sweep_one(job: Job, backlog: list[JobBacklog]) -> bool:
    """Enqueue what a job has to do, and append how much that is. Return False if the broker is unreachable."""
    if job.overdue is None:
        return True
    try:
        found = job.overdue()
        if not isinstance(found, QuerySet):
            found = list(found)
        measured = measure(job, found)
        ids = _ids(job, found)
    except DatabaseError as why:
        what = f"read the overdue rows of {job.name}"
        if not _logged_in_one_line(what, why):
            log.exception("cannot %s", what)
        return True
    backlog.append(measured)
    for number, each in enumerate(ids):
        if not send(job, each):
            _mark_unsent(job, found, ids[number:])
            return False
    return True


def _mark_unsent(job: Job, found: Rows, ids: Sequence[Any]) -> None:
    """Let the next sweep send these, and not only after `ENQUEUE_AGAIN_AFTER`."""
    if isinstance(found, QuerySet) and issubclass(found.model, Enqueued):
        found.model._base_manager.filter(**{f"{job.key}__in": ids}).update(enqueued_at=None)


@worker_ready.connect(weak=False)
def enqueue_at_start(**_: Any) -> None:
    """Enqueue the work that another worker left when it stopped."""
    for job in list(JOBS.values()):
        if job.at_start:
            for each in overdue(job, at_start=True):
                send(job, each)


def bind(job: Job) -> None:
    """Register a job as a Celery task."""

    def task(self: Task[Any, Any], *ids: str) -> None:
        headers = self.request.headers or {}
        request_id = headers.get(REQUEST_ID)
        with working_on(job.name, request_id):
            if job.every is not None:  # a trace every few seconds would only be in the way
                run(job, *ids)
                return
            with span(job.name, JOB, headers) as described:
                described.attributes = {"timemachine.request_id": request_id} if request_id else {}
                described.failed = not run(job, *ids)

    task.__doc__ = job.function.__doc__
    shared_task(name=task_name(job), bind=True)(task)


def load() -> None:
    """Import the `tasks.py` of every domain, register its jobs, and schedule the periodic ones."""
    top = Path(timemachine.__file__).parent
    for path in sorted(top.rglob("tasks.py")):
        import_module(".".join(("timemachine", *path.relative_to(top).with_suffix("").parts)))
    schedule = {"sweep": _periodic(SWEEP, DEFAULT, settings.SWEEP_SECONDS)}
    for job in JOBS.values():
        bind(job)
        if job.every is not None:
            schedule[job.name] = _periodic(task_name(job), job.queue, job.every)
    current_app.conf.beat_schedule = schedule


def _periodic(task: str, queue: str, every: timedelta | int) -> dict[str, object]:
    return {"task": task, "schedule": every, "options": {"queue": queue}}


load()
