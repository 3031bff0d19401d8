"""Each queue of a worker has a place that the others cannot take, and every job has a queue."""

from collections.abc import Collection
from itertools import combinations

import pytest
from django.db import DEFAULT_DB_ALIAS

from tests.database_roles import as_owner
from timemachine.config.celery import app
from timemachine.core.jobs import JOBS
from timemachine.core.pure.queue_names import DEFAULT, INDEXING, QUEUES, REPLAYS
from timemachine.jobs import registry
from timemachine.jobs.places import FEWEST_PLACES, most_places
from timemachine.jobs.queue import create_queues

SERVED = [served for number in (1, 2, 3) for served in combinations(QUEUES, number)]


@pytest.mark.parametrize("served", SERVED, ids=",".join)
def test_the_other_queues_of_a_worker_never_take_its_last_place(served: Collection[str]) -> None:
    for places in range(FEWEST_PLACES, 40):
        most = most_places(served, places)
        assert most.keys() == set(served)
        for queue in served:
            assert most[queue] >= 1
            assert sum(most.values()) - most[queue] < places


def test_replays_get_most_places() -> None:
    assert most_places(QUEUES, 8) == {REPLAYS: 5, DEFAULT: 2, INDEXING: 2}
    assert most_places([INDEXING], 8) == {INDEXING: 8}
    assert most_places([REPLAYS, DEFAULT], 8) == {REPLAYS: 7, DEFAULT: 4}


def test_every_job_waits_in_a_queue_that_workers_serve() -> None:
    assert {job.queue for job in JOBS.values()} == set(QUEUES)


def test_beat_sends_periodic_jobs_to_their_queue() -> None:
    assert {entry["options"]["queue"] for entry in app.conf.beat_schedule.values()} == {DEFAULT}
    assert app.conf.beat_schedule["sweep"]["task"] == registry.SWEEP


@pytest.mark.django_db
def test_the_queue_of_earlier_versions_is_dropped_when_it_is_empty() -> None:
    with as_owner() as cursor:
        cursor.execute("SELECT pgmq.create('tm_celery')")
        cursor.execute("SELECT pgmq.send('tm_celery', '{}')")
        for is_left in (True, False):
            create_queues(using=DEFAULT_DB_ALIAS)
            cursor.execute("SELECT to_regclass('pgmq.q_tm_celery') IS NOT NULL")
            assert cursor.fetchone() == (is_left,)
            if is_left:
                cursor.execute("SELECT pgmq.purge_queue('tm_celery')")
