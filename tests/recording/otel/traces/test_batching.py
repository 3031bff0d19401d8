"""Waiting requests are processed together, and none is refused because of another."""

import threading
from collections.abc import Callable, Sequence

import pytest

from tests.waiting import wait_until
from timemachine.recording.otel import batching
from timemachine.recording.otel.batching import RequestBatcher


class Work:
    """Records the batches; refuses odd numbers."""

    def __init__(self) -> None:
        self.done: list[list[int]] = []
        self.first = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, items: Sequence[int]) -> None:
        self.first.set()
        self.go_on.wait(60)
        if any(item % 2 for item in items):
            raise ValueError(items)
        self.done.append(list(items))


def run(
    work: Work, batches: Sequence[list[int]], before_waiting: Callable[[], None] = lambda: None
) -> list[BaseException | None]:
    """Run the first request alone and the others while it runs; the result of each."""
    shared = RequestBatcher(work, before_waiting=before_waiting)
    ended: list[BaseException | None] = [None] * len(batches)

    def one(place: int) -> None:
        try:
            shared.run(batches[place])
        except ValueError as why:
            ended[place] = why

    threads = [threading.Thread(target=one, args=(place,)) for place in range(len(batches))]
    threads[0].start()
    assert work.first.wait(60)
    for thread in threads[1:]:
        thread.start()
    wait_until(lambda: len(shared._queue) == len(batches) - 1)
    work.go_on.set()
    for thread in threads:
        thread.join(60)
    return ended


def test_waiting_requests_are_processed_in_one_batch() -> None:
    work = Work()
    assert run(work, [[0], [2], [4, 6], [8]]) == [None] * 4
    assert work.done[0] == [0]
    assert [sorted(each) for each in work.done[1:]] == [[2, 4, 6, 8]]


def test_only_waiting_requests_release_their_resources() -> None:
    gave_back: list[str] = []
    run(Work(), [[0], [2], [4]], lambda: gave_back.append(threading.current_thread().name))
    assert len(set(gave_back)) == len(gave_back) == 2


def test_a_refused_request_does_not_affect_the_others() -> None:
    work = Work()
    ended = run(work, [[0], [2], [3], [4]])
    assert [type(each) for each in ended] == [type(None), type(None), ValueError, type(None)]
    assert sorted(item for each in work.done for item in each) == [0, 2, 4]


def test_a_batch_is_limited_to_the_size_of_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "MAX_BATCH", 3)
    work = Work()
    assert run(work, [[0], [2, 2], [4, 4], [6]]) == [None] * 4
    assert all(len(each) <= 3 for each in work.done)
    assert sorted(item for each in work.done for item in each) == [0, 2, 2, 4, 4, 6]


def test_a_request_runs_at_once_when_no_others_are_active() -> None:
    work = Work()
    work.go_on.set()
    shared = RequestBatcher(work)
    shared.run([2])
    with pytest.raises(ValueError, match="3"):
        shared.run([3])
    shared.run([4])
    assert work.done == [[2], [4]]


def test_recently_active_requests_are_waited_for() -> None:
    work = Work()
    shared = RequestBatcher(work, patience=60)
    threads = [threading.Thread(target=shared.run, args=([number],)) for number in (0, 2, 4, 6)]
    threads[0].start()
    assert work.first.wait(60)
    for thread in threads[1:3]:
        thread.start()
    wait_until(lambda: len(shared._queue) == 2, 10)
    work.go_on.set()  # three requests were present, and one has left
    threads[0].join(60)
    assert work.done == [[0]]
    threads[3].start()
    for thread in threads:
        thread.join(60)
    assert [sorted(each) for each in work.done] == [[0], [2, 4, 6]]


def test_requests_are_waited_for_only_up_to_the_patience() -> None:
    work = Work()
    shared = RequestBatcher(work, patience=0.01)
    threads = [threading.Thread(target=shared.run, args=([number],)) for number in (0, 2)]
    threads[0].start()
    assert work.first.wait(60)
    threads[1].start()
    wait_until(lambda: len(shared._queue) == 1, 10)
    work.go_on.set()
    for thread in threads:
        thread.join(60)
    assert work.done == [[0], [2]]
    shared.run([4])
    assert work.done[2:] == [[4]]


def test_an_interrupted_request_leaves_its_turn_to_the_next() -> None:
    work, interrupted = Work(), threading.Event()

    def release_resources() -> None:
        if not interrupted.is_set():
            interrupted.set()
            raise RuntimeError

    shared = RequestBatcher(work, before_waiting=release_resources)
    first = threading.Thread(target=shared.run, args=([0],))
    first.start()
    assert work.first.wait(60)
    with pytest.raises(RuntimeError):
        shared.run([2])
    third = threading.Thread(target=shared.run, args=([4],))
    third.start()
    wait_until(lambda: len(shared._queue) == 1, 10)
    work.go_on.set()
    for thread in (first, third):
        thread.join(60)
    shared.run([6])
    assert work.done == [[0], [4], [6]]


def test_a_request_that_fills_a_batch_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "MAX_BATCH", 3)
    work = Work()
    work.go_on.set()
    shared = RequestBatcher(work, patience=60)
    shared.run([2])
    shared._lately = 5
    shared.run([4, 6, 8])
    assert work.done == [[2], [4, 6, 8]]
