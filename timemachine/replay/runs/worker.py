"""Working on a replay: claim steps, run them, and write their results under their leases."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from threading import BoundedSemaphore
from uuid import UUID

from django.conf import settings
from django.db import connections

from timemachine.core.leases import LeaseKeeper, LeaseLost
from timemachine.core.pure.process_pool import ProcessPool, process_pool, use_pool
from timemachine.llm.concurrency import release_connection
from timemachine.llm.queries import ModelLookup
from timemachine.replay.runs import claimed_steps, commands, leases, step_results
from timemachine.replay.runs.cancellation import watch_for_cancellation
from timemachine.replay.runs.claimed_steps import MAX_CHARACTERS_HELD
from timemachine.replay.runs.concurrent_steps import ConcurrentSteps
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.step_results import Result

MIN_STEPS_FOR_PROCESSES = 100
"""The number of open steps from which a process pool is worth starting; a process takes some 0.5 s to start."""
THREADS = 3
"""How many threads share the steps that call no model: while one waits for the database, another computes."""
PAUSE, PATIENCE = 0.1, 5.0
"""Seconds of the first wait for a free slot at a provider, and in total. After that, the sweep enqueues the replay again."""


def work(replay_id: UUID, worker: str) -> int:
    """Run the steps of a replay until none can be claimed, and return how many this worker wrote.

    Steps that call a model run concurrently. It is safe to run this twice, at the same time, and to kill it
    at any point: a step is written once, under its lease.
    """
    if not commands.begin(replay_id):
        return 0
    replay = Replay.objects.select_related("session__collection").get(id=replay_id)
    open_ = {calls: leases.open_steps(replay_id, calls=calls) for calls in (False, True)}
    many = sum(open_.values()) >= MIN_STEPS_FOR_PROCESSES
    with leases.keeper() as keeper, process_pool() if many else nullcontext() as beside:
        replay_worker = ReplayWorker(replay=replay, worker=worker, keeper=keeper, beside=beside)
        written = (
            replay_worker.do_all_in_threads()
            if beside and open_[False]
            else replay_worker.do_all(calls=False)
        )
        if open_[True]:
            with _call_slots(open_[True]) as slots, watch_for_cancellation(replay_id):
                written += replay_worker.do_all(calls=True, slots=slots)
    with suppress(Replay.DoesNotExist):  # erased in the meantime
        commands.finish_if_done(replay_id)
    return written


@contextmanager
def _call_slots(steps: int) -> Iterator[int]:
    """Yield how many calls the replay may make at the same time: one, and the free slots of this process."""
    slots = _process_slots(settings.MODEL_CALLS_AT_ONCE)
    others = range(min(steps, settings.MODEL_CALLS_AT_ONCE) - 1)
    more = sum(slots.acquire(blocking=False) for _ in others)
    try:
        yield 1 + more
    finally:
        for _ in range(more):
            slots.release()


@cache
def _process_slots(calls: int) -> BoundedSemaphore:
    return BoundedSemaphore(max(1, calls - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayWorker:
    """One worker on one replay."""

    replay: Replay
    worker: str
    keeper: LeaseKeeper
    beside: ProcessPool | None = None

    def do_all(self, *, calls: bool, slots: int = 1) -> int:
        """Run steps until none is left or no slot becomes free, and return how many were written."""
        written, pause, until = 0, PAUSE, time.monotonic() + PATIENCE
        while time.monotonic() < until:
            more = self._do_some(calls=calls, slots=slots)
            if more is not None:
                written += more
                pause, until = PAUSE, time.monotonic() + PATIENCE
            elif leases.open_steps(self.replay.id, calls=calls):
                release_connection()
                time.sleep(pause)
                pause *= 1.5
            else:
                break
        return written

    def do_all_in_threads(self) -> int:
        """Run the steps that call no model in several threads, and return how many were written."""
        with ThreadPoolExecutor(THREADS - 1) as threads:
            others = [threads.submit(self._do_all_in_thread) for _ in range(THREADS - 1)]
            return self.do_all(calls=False) + sum(each.result() for each in others)

    def _do_all_in_thread(self) -> int:
        try:
            return self.do_all(calls=False)
        finally:
            connections.close_all()

    def _do_some(self, *, calls: bool, slots: int) -> int | None:
        """Run the steps that can be claimed now. Return how many were written, None if there were none."""
        if slots > 1:
            steps = ConcurrentSteps(
                replay=self.replay, worker=self.worker, keeper=self.keeper, beside=self.beside, slots=slots
            )
            return steps.do_all()
        found = leases.claim(self.replay.id, self.worker, calls=calls)
        if not found:
            return None
        with self.keeper.keeping(found[0].token), use_pool(self.beside):
            return _do(self.replay, found)


def _do(replay: Replay, found: Sequence[StepLease]) -> int:
    done: list[Result] = []
    written = 0
    steps = claimed_steps.load(replay, [lease.pk for lease in found])
    reach = ModelLookup(replay.project_id)
    try:
        for at, lease in enumerate(found):
            if at and commands.is_cancelled(lease.replay_id):
                leases.give_back(found[at:])
                break
            if lease.pk in steps:
                step = steps.pop(lease.pk)
                with suppress(LeaseLost):
                    done.append(
                        Result(lease=lease, step=step, outcome=claimed_steps.outcome_of(step, lease, reach))
                    )
            if sum(len(hit.text) for result in done for hit in result.outcome.found) > MAX_CHARACTERS_HELD:
                written += step_results.write(done)
                done.clear()
    finally:  # write finished steps even if the next one fails
        claimed_steps.renew_connection()
        written += step_results.write(done)
    return written
