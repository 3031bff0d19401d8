"""Each queue of a worker has a place that the others cannot take, and every job has a queue."""

from collections.abc import Collection
from itertools import combinations

import pytest

from timemachine.config.celery import app
from timemachine.core.jobs import JOBS
from timemachine.jobs import registry
from timemachine.jobs.queues import DEFAULT, FEWEST_PLACES, INDEXING, QUEUE_OF, QUEUES, REPLAYS, most_places

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


def test_only_jobs_that_exist_have_a_queue_of_their_own() -> None:
    assert JOBS.keys() >= QUEUE_OF.keys()


def test_beat_sends_periodic_jobs_to_their_queue() -> None:
    assert {entry["options"]["queue"] for entry in app.conf.beat_schedule.values()} == {DEFAULT}
    assert app.conf.beat_schedule["sweep"]["task"] == registry.SWEEP
