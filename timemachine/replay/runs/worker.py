"""Working on a replay: its steps are taken, done and written, each under its lease."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
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
from timemachine.replay.runs.cancellation import ending_calls
from timemachine.replay.runs.claimed_steps import MOST_HELD
from timemachine.replay.runs.concurrent_steps import SideBySide
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.step_results import Result

WORTH_BESIDE = 100
"""From how many open steps on it is worth to start processes that think beside: one takes some 0.3 s."""
HANDS = 3
"""How many threads then share the steps that call nobody: while one waits for the database, another thinks."""
PAUSE, PATIENCE = 0.1, 5.0
"""How long it is waited at first before a place at a provider is looked for again, and how long in all; then the sweep enqueues the replay again. In seconds."""


def work(replay_id: UUID, worker: str) -> int:
    """Do the steps of a replay until none is left to take; returns how many this worker wrote.

    Steps that call a model run side by side. Safe to run twice, at the same time, and to be killed at any point: a step is
    written once, under its lease.
    """
    if not commands.begin(replay_id):
        return 0
    replay = Replay.objects.select_related("session__collection").get(id=replay_id)
    open_ = {calls: leases.open_steps(replay_id, calls=calls) for calls in (False, True)}
    with leases.keeper() as keeper, _beside(sum(open_.values())) as beside:
        hand = Hand(replay=replay, worker=worker, keeper=keeper, beside=beside)
        written = hand.share() if beside and open_[False] else hand.do_all(calls=False)
        if open_[True]:
            with _places_for(open_[True]) as places, ending_calls(replay_id):
                written += hand.do_all(calls=True, places=places)
    with suppress(Replay.DoesNotExist):  # erased meanwhile
        commands.finish_if_over(replay_id)
    return written


def _beside(steps: int) -> AbstractContextManager[ProcessPool | None]:
    return process_pool() if steps >= WORTH_BESIDE else nullcontext()


@contextmanager
def _places_for(wanted: int) -> Iterator[int]:
    """How many calls may be made for a replay at once: one, and as many more as this process has for all its replays."""
    places = _places(settings.MODEL_CALLS_AT_ONCE)
    others = range(min(wanted, settings.MODEL_CALLS_AT_ONCE) - 1)
    more = sum(places.acquire(blocking=False) for _ in others)
    try:
        yield 1 + more
    finally:
        for _ in range(more):
            places.release()


@cache
def _places(calls: int) -> BoundedSemaphore:
    return BoundedSemaphore(max(1, calls - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """One worker at one replay."""

    replay: Replay
    worker: str
    keeper: LeaseKeeper
    beside: ProcessPool | None = None

    def do_all(self, *, calls: bool, places: int = 1) -> int:
        """Take and do steps until none is left, or others keep all the places at a provider; how many were written."""
        written, pause, until = 0, PAUSE, time.monotonic() + PATIENCE
        while time.monotonic() < until:
            more = self._some(calls=calls, places=places)
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

    def share(self) -> int:
        """The same for steps that call nobody, by several threads."""
        with ThreadPoolExecutor(HANDS - 1) as threads:
            apart = [threads.submit(self._apart) for _ in range(HANDS - 1)]
            return self.do_all(calls=False) + sum(each.result() for each in apart)

    def _apart(self) -> int:
        try:
            return self.do_all(calls=False)
        finally:
            connections.close_all()

    def _some(self, *, calls: bool, places: int) -> int | None:
        """Do the steps that can be taken now; how many were written, None where there was none."""
        if places > 1:
            return self._side_by_side(places).do_all()
        found = leases.claim(self.replay.id, self.worker, calls=calls)
        if not found:
            return None
        with self.keeper.keeping(found[0].token), use_pool(self.beside):
            return _do(self.replay, found)

    def _side_by_side(self, places: int) -> SideBySide:
        return SideBySide(
            replay=self.replay, worker=self.worker, keeper=self.keeper, beside=self.beside, places=places
        )


def _do(replay: Replay, found: Sequence[StepLease]) -> int:
    done: list[Result] = []
    written = 0
    steps = claimed_steps.read(replay, [lease.pk for lease in found])
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
            if sum(result.weight for result in done) > MOST_HELD:
                written += step_results.write(done)
                done.clear()
    finally:  # what is done is done, whatever becomes of the next step
        claimed_steps.renew_connection()
        written += step_results.write(done)
    return written
