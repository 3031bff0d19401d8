"""Adding a job takes one declaration: it is swept, enqueued when a worker starts, and runs with its lease."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import transaction
from django.db.models import QuerySet
from pytest_django import DjangoCaptureOnCommitCallbacks

from tests.brokers import received, use_broker
from tests.database_roles import as_owner
from tests.embedded.machine import free_port
from timemachine.core.accounts.models import Project
from timemachine.core.jobs import JOBS, Job, Next, job
from timemachine.core.leases import Lease, holding, mark_enqueued
from timemachine.core.pure.clock import now
from timemachine.jobs import registry
from timemachine.jobs.queue import enqueue
from timemachine.memory.search.models import Indexing

LEASES: list[Lease[Indexing] | None] = []
"""The lease of each run of the job."""


def unfinished() -> QuerySet[Indexing]:
    """Return the rows with work to do; this job borrows the table of another."""
    return Indexing.objects.all()


def is_due(project_id: UUID) -> bool:
    return bool(mark_enqueued(unfinished().filter(pk=project_id)))


@pytest.fixture
def counted(silent_queue: None) -> Iterator[Job]:
    """A job that only this file knows; nothing else is overdue."""
    others = dict(JOBS)
    JOBS.clear()

    @job(overdue=unfinished, at_start=True, only_if=is_due)
    def count_steps(project_id: UUID) -> Next:
        """Count, and continue if there is more."""
        with holding(unfinished().filter(pk=project_id)) as lease:
            LEASES.append(lease)
            assert not is_due(project_id), "nobody else is to take what has a lease"
        return [(count_steps, project_id)] if len(LEASES) == 1 else []

    yield count_steps
    LEASES.clear()
    JOBS.clear()
    JOBS.update(others)


@pytest.fixture
def row(project: Project) -> Indexing:
    return Indexing.objects.create(project=project)


def test_a_job_is_swept_until_a_worker_has_leased_it(counted: Job, row: Indexing) -> None:
    registry.sweep()
    assert received() == [("count_steps", [str(row.pk)])]
    registry.sweep()
    assert received() == [], "its message may still wait"
    Indexing.objects.update(enqueued_at=now() - timedelta(minutes=1))
    registry.sweep()
    assert received() == [("count_steps", [str(row.pk)])]
    Indexing.objects.update(enqueued_at=None, lease_until=now() + timedelta(seconds=9))
    registry.sweep()
    assert received() == [], "a worker has it"
    Indexing.objects.update(lease_until=now() - timedelta(seconds=1))
    registry.sweep()
    assert received() == [("count_steps", [str(row.pk)])], "the worker was lost"


def test_a_job_is_enqueued_at_worker_start_even_if_it_was_just_enqueued(counted: Job, row: Indexing) -> None:
    registry.sweep()
    registry.enqueue_at_start()
    assert received() == [("count_steps", [str(row.pk)])] * 2


def test_a_job_runs_with_its_lease_and_is_enqueued_again_while_work_remains(
    counted: Job, row: Indexing
) -> None:
    registry.run(counted, str(row.pk))
    (lease,) = LEASES
    assert lease is not None
    row.refresh_from_db()
    assert (row.lease_token, row.lease_until) == (None, None)
    assert received() == [("count_steps", [str(row.pk)])]
    registry.run(counted, str(row.pk))
    assert received() == []
    assert None not in LEASES


def test_a_job_leased_by_one_worker_gives_another_no_lease(counted: Job, row: Indexing) -> None:
    with holding(unfinished()):
        registry.run(counted, str(row.pk))
        assert LEASES == [None]


def test_repeated_enqueuing_sends_one_message_after_the_commit(
    counted: Job, row: Indexing, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        for _ in range(3):
            enqueue(counted, row.pk)
        assert received() == []
    assert received() == [("count_steps", [str(row.pk)])]


def test_a_message_for_several_ids_is_split_into_one_per_id(counted: Job) -> None:
    registry.run(counted, "one", "two")
    assert received() == [("count_steps", ["one"]), ("count_steps", ["two"])]


def test_with_an_unreachable_queue_nothing_fails_and_the_sweep_sends_later(
    counted: Job,
    row: Indexing,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    use_broker({"broker_url": f"amqp://127.0.0.1:{free_port()}//"})
    with django_capture_on_commit_callbacks(execute=True):
        enqueue(counted, row.pk)
    assert "the queue is unreachable; the sweep will enqueue count_steps" in caplog.text
    use_broker({"broker_url": "memory://"})
    Indexing.objects.update(enqueued_at=now() - timedelta(minutes=1))
    registry.sweep()
    assert received() == [("count_steps", [str(row.pk)])]


def test_what_a_sweep_could_not_send_is_sent_by_the_next_one(counted: Job, row: Indexing) -> None:
    use_broker({"broker_url": f"amqp://127.0.0.1:{free_port()}//"})
    registry.sweep()
    use_broker({"broker_url": "memory://"})
    registry.sweep()
    assert received() == [("count_steps", [str(row.pk)])]


def test_a_failure_of_the_database_is_one_line_and_the_sweep_sends_again(
    counted: Job, row: Indexing, caplog: pytest.LogCaptureFixture
) -> None:
    with as_owner() as cursor:
        cursor.execute(
            "CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER disk_full BEFORE UPDATE ON tm_indexing FOR EACH ROW EXECUTE FUNCTION disk_full()"
        )
    with transaction.atomic():
        registry.run(counted, str(row.pk))
    registry.sweep()
    assert [(each.levelname, each.message, each.exc_info) for each in caplog.records] == [
        (
            "ERROR",
            f"cannot run count_steps {row.pk} (database_disk_full): could not extend file",
            None,
        ),
        (
            "ERROR",
            "cannot read the overdue rows of count_steps (database_disk_full): could not extend file",
            None,
        ),
    ]
    with as_owner() as cursor:
        cursor.execute("DROP TRIGGER disk_full ON tm_indexing")
    registry.sweep()
    assert received() == [("count_steps", [str(row.pk)])]


def test_two_jobs_cannot_have_the_same_name(counted: Job) -> None:
    with pytest.raises(ValueError, match="two jobs with the name count_steps"):

        @job()
        def count_steps() -> None:
            """Another one."""


def test_every_job_of_the_product_is_a_task_and_the_periodic_ones_are_scheduled() -> None:
    from timemachine.config.celery import app

    assert {"run_replay", "index_steps", "trim_answer_cache"} <= JOBS.keys()
    assert {f"timemachine.jobs.{name}" for name in JOBS} <= app.tasks.keys()
    assert set(app.conf.beat_schedule) == {"sweep", *(name for name, each in JOBS.items() if each.every)}
