"""Leases: one worker at a time has a row; a dead worker loses it, and one that slept past its lease cannot write."""

import threading
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from django.db import OperationalError, connection, transaction
from pytest_django.fixtures import Settings

from tests.waiting import wait_until
from timemachine.core import leases
from timemachine.core.accounts.models import Project
from timemachine.core.leases import (
    LeaseKeeper,
    LeaseLost,
    claim,
    holding,
    keep_alive,
    mark_enqueued,
    since_the_first_claim,
)
from timemachine.core.pure.clock import now
from timemachine.governance.deletion.retention.models import BulkDeletion
from timemachine.memory.search.models import Indexing


@pytest.fixture
def row(project: Project) -> Indexing:
    return Indexing.objects.create(project=project, enqueued_at=now())


def lease_end() -> datetime:
    """Return the end of the only row's lease."""
    until = Indexing.objects.get().lease_until
    assert until is not None
    return until


def expire() -> None:
    Indexing.objects.update(lease_until=now() - timedelta(seconds=1))


def test_a_row_is_claimed_by_one_worker_until_its_lease_expires(row: Indexing) -> None:
    first = claim(Indexing.objects.all())
    assert first is not None
    assert first.row("project").enqueued_at is None
    assert claim(Indexing.objects.all()) is None
    expire()
    second = claim(Indexing.objects.all())
    assert second is not None
    assert (second.pk, second.token == first.token) == (row.pk, False)


def test_a_worker_that_slept_past_its_lease_writes_nothing(row: Indexing) -> None:
    slept = claim(Indexing.objects.all())
    expire()
    awake = claim(Indexing.objects.all())
    assert slept is not None
    assert awake is not None
    for late in (slept.write, slept.row, slept.locked):
        with pytest.raises(LeaseLost), transaction.atomic():
            late()
    assert not slept.release()
    assert awake.release()
    assert not awake.release(), "what was let go is not held any more"


def test_a_write_extends_the_lease(row: Indexing) -> None:
    lease = claim(Indexing.objects.all())
    assert lease is not None
    expire()
    lease.write(enqueued_at=None)
    assert lease.locked().lease_until == lease_end() > now()


def test_a_block_that_ends_releases_the_row_and_one_that_fails_lets_it_expire(row: Indexing) -> None:
    with holding(Indexing.objects.all()) as lease:
        assert lease is not None
    with pytest.raises(KeyError), holding(Indexing.objects.all()):
        raise KeyError
    with holding(Indexing.objects.all()) as lease:
        assert lease is None
    expire()
    with holding(Indexing.objects.all()) as lease:
        assert lease is not None


def test_a_block_that_lost_its_lease_ends_quietly_and_does_not_touch_the_row(row: Indexing) -> None:
    with holding(Indexing.objects.all()) as lease:
        assert lease is not None
        Indexing.objects.update(lease_token=uuid4())
        lease.write()
        pytest.fail("the block goes no further")
    assert Indexing.objects.get().lease_until is not None


@pytest.mark.parametrize("at_start", [False, True])
def test_a_row_is_enqueued_once_per_interval_and_not_while_a_worker_has_it(
    row: Indexing, at_start: bool
) -> None:
    rows = Indexing.objects.all()
    assert mark_enqueued(rows, at_start=at_start) == ([row.pk] if at_start else [])
    rows.update(enqueued_at=now() - leases.ENQUEUE_AGAIN_AFTER - timedelta(seconds=1))
    assert mark_enqueued(rows, key="project_id", at_start=at_start) == [row.pk]
    rows.update(enqueued_at=None, lease_until=now() + timedelta(seconds=9))
    assert mark_enqueued(rows, at_start=at_start) == []


@pytest.fixture
def short_lease(settings: Settings) -> None:
    settings.LEASE_SECONDS = 0.4


def test_a_lease_is_extended_while_the_block_runs_and_progress_is_written(
    transactional_db: None, short_lease: None
) -> None:
    row = Indexing.objects.create(project=Project.objects.create(name="kept"))
    lease = claim(Indexing.objects.all())
    assert lease is not None
    moment = now()
    with keep_alive(lease, progress=lambda: {"enqueued_at": moment}):
        wait_until(lambda: Indexing.objects.get(pk=row.pk).enqueued_at == moment)
        assert claim(Indexing.objects.all()) is None
        wait_until(lambda: now() > moment + timedelta(seconds=0.8))
        assert claim(Indexing.objects.all()) is None
    wait_until(lambda: claim(Indexing.objects.all()) is not None)


def test_a_lease_released_as_often_as_it_was_kept_is_no_longer_extended(row: Indexing) -> None:
    lease = claim(Indexing.objects.all())
    assert lease is not None
    keeper = LeaseKeeper(Indexing.objects.all())
    keeper.keep(lease.token)
    with keeper.keeping(lease.token):
        expire()
    keeper.beat()
    assert lease_end() > now()
    keeper.let_go(lease.token)
    expire()
    keeper.beat()
    assert lease_end() < now()


def test_a_brief_database_outage_does_not_end_the_thread(
    transactional_db: None, short_lease: None, caplog: pytest.LogCaptureFixture
) -> None:
    Indexing.objects.create(project=Project.objects.create(name="kept"))
    lease = claim(Indexing.objects.all())
    assert lease is not None
    failed = threading.Event()

    def progress() -> dict[str, object]:
        if failed.is_set():
            return {}
        failed.set()
        raise OperationalError("the database is starting up")

    with keep_alive(lease, progress=progress):
        assert failed.wait(10)
        expire()
        wait_until(lambda: lease_end() > now())
    assert "leases could not be extended; retrying" in caplog.text
    connection.close()


def test_work_began_when_it_was_claimed_for_the_first_time(project: Project) -> None:
    for begun in (None, now() - timedelta(hours=1)):
        deletion = BulkDeletion.objects.create(project=project, wanted={}, began_at=begun)
        moment = now()
        assert (
            claim(BulkDeletion.objects.filter(id=deletion.id), began_at=since_the_first_claim()) is not None
        )
        deletion.refresh_from_db()
        assert deletion.began_at is not None
        assert deletion.began_at == begun if begun else deletion.began_at >= moment
