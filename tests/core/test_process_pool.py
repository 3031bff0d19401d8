"""The process pool: its results equal those of this process, even if workers die or fail."""

import os
import pickle
import runpy
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO, TextIOWrapper
from operator import truediv
from time import sleep
from typing import Any

import pytest

from timemachine.core.pure import process_pool as pool_module
from timemachine.core.pure.process_pool import ProcessPool, process_pool, run_in_pool, use_pool
from timemachine.text.pure.grounding.passages import Passage
from timemachine.text.pure.grounding.support import ground


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.mark.usefixtures("cores")
def test_a_result_is_the_same_in_another_process() -> None:
    passages = [Passage(frame=1, text="Cats sleep sixteen hours a day. Dogs sleep twelve.")]
    expected = run_in_pool(ground, "Cats sleep nine hours a day.", passages)
    with process_pool() as pool, use_pool(pool):
        assert run_in_pool(os.getpid) != os.getpid()
        assert run_in_pool(ground, "Cats sleep nine hours a day.", passages) == expected
    assert run_in_pool(os.getpid) == os.getpid()


@pytest.mark.usefixtures("cores")
def test_several_threads_use_the_pool_at_the_same_time() -> None:
    with process_pool() as pool, ThreadPoolExecutor(4) as threads:
        assert pool is not None
        assert list(threads.map(pool, [divmod] * 50, range(50), [7] * 50)) == [
            divmod(n, 7) for n in range(50)
        ]
        assert len(set(threads.map(pool, [os.getpid] * 50))) <= 2


def test_a_call_whose_worker_was_killed_runs_here() -> None:
    pool = ProcessPool(1)
    try:
        os.kill(pool(os.getpid), signal.SIGKILL)
        assert pool(max, 3, 4) == 4
        assert pool(os.getpid) == os.getpid()
    finally:
        pool.close()


def test_all_unanswered_calls_of_a_killed_worker_run_here() -> None:
    pool = ProcessPool(1)
    try:
        process = pool(os.getpid)
        os.kill(process, signal.SIGSTOP)
        with ThreadPoolExecutor(4) as threads:
            calls = [threads.submit(pool, max, n, 2) for n in range(4)]
            sleep(0.2)
            assert not any(each.done() for each in calls)
            os.kill(process, signal.SIGKILL)
            assert [each.result(20) for each in calls] == [2, 2, 2, 3]
    finally:
        pool.close()


def test_a_killed_worker_gets_no_more_calls_while_there_is_another() -> None:
    pool = ProcessPool(2)
    try:
        os.kill(pool(os.getpid), signal.SIGKILL)
        workers = {pool(os.getpid) for _ in range(20)}
        assert len(workers - {os.getpid()}) == 1
        assert pool(os.getpid) != os.getpid()
    finally:
        pool.close()


def test_a_worker_that_ended_while_being_chosen_gets_no_call() -> None:
    pool = ProcessPool(1)
    (worker,) = pool._all
    try:
        os.kill(pool(os.getpid), signal.SIGKILL)
        worker._reader.join(20)
        with pytest.raises(pool_module._WorkerFailed):
            worker.submit(max, (3, 4))
    finally:
        pool.close()


class Unreadable:
    """A value that can be pickled but not unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("no number",)


def test_an_unreadable_result_and_all_later_ones_are_computed_here() -> None:
    pool = ProcessPool(1)
    try:
        assert isinstance(pool(Unreadable), Unreadable)
        assert pool(max, 3, 4) == 4
    finally:
        pool.close()


def test_printed_output_of_a_call_does_not_mix_with_results() -> None:
    pool = ProcessPool(1)
    try:
        assert pool(print, "from a worker") is None
        assert pool(os.getpid) != os.getpid()
    finally:
        pool.close()


def test_a_stuck_worker_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ProcessPool(1)
    try:
        other = pool(os.getpid)
        assert other != os.getpid()  # otherwise this process would be stopped
        os.kill(other, signal.SIGSTOP)
        monkeypatch.setattr(pool_module, "_STUCK_SECONDS", 0.3)
        assert pool(max, 3, 4) == 4
    finally:
        pool.close()


def test_a_call_that_fails_raises_its_error_here() -> None:
    pool = ProcessPool(1)
    try:
        with pytest.raises(ZeroDivisionError):
            pool(truediv, 1, 0)
        assert pool(truediv, 1, 2) == 0.5
        assert pool(os.getpid) != os.getpid()
    finally:
        pool.close()


@pytest.mark.usefixtures("cores")
def test_there_is_only_one_pool_at_a_time() -> None:
    with process_pool() as first, process_pool() as second:
        assert first is not None
        assert second is None
    with process_pool() as third:
        assert third is not None


def test_one_core_has_no_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with process_pool() as pool, use_pool(pool):
        assert pool is None
        assert run_in_pool(os.getpid) == os.getpid()


def test_a_worker_gets_no_keys_or_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "SECRET_KEY", "DATABASE_URL"):
        monkeypatch.setenv(name, "secret")
    pool = ProcessPool(1)
    try:
        assert pool(os.getenv, "PATH") == os.environ["PATH"]
        assert [pool(os.getenv, name) for name in ("OPENAI_API_KEY", "SECRET_KEY", "DATABASE_URL")] == [
            None
        ] * 3
    finally:
        pool.close()


def test_a_worker_answers_each_call_until_its_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, output = [(divmod, (7, 2)), (truediv, (1, 0))], TextIOWrapper(BytesIO())
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"".join(map(pickle.dumps, calls)))))
    monkeypatch.setattr(sys, "stdout", output)
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        runpy.run_path(str(pool_module.__file__), run_name="__main__")
    finally:
        signal.signal(signal.SIGINT, interrupted)
    output.buffer.seek(0)
    assert [pickle.load(output.buffer) for _ in calls] == [(True, (3, 1)), (False, None)]
