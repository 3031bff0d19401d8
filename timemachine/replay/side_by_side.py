"""Steps that call a model, side by side: threads call, and one of them takes steps and writes what they came to.

Taking, reading and writing some steps costs little more than one, and threads that all did it would wait for one another.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Final

from django.db import Error, connection, connections

from timemachine.base.aside import Beside, using
from timemachine.replay import leases, taken, writing
from timemachine.replay.leases import Keeper, Lease, LeaseLost
from timemachine.replay.models import Replay, ReplayStep
from timemachine.replay.outcome import Outcome
from timemachine.replay.writing import Result

log = logging.getLogger(__name__)

LOOK_AGAIN: Final = 0.5
"""Seconds after which a place that was not free is looked for again while calls are under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Come:
    """What came back from a thread: the outcome of a step, or why there is none."""

    lease: Lease
    step: ReplayStep
    outcome: Outcome | None = None
    why_not: Exception | None = None


@dataclass(slots=True, kw_only=True)
class SideBySide:
    """So many threads that call, and the steps that are under way in them."""

    replay: Replay
    worker: str
    keeper: Keeper
    beside: Beside | None
    places: int
    _under_way: int = 0
    _waiting: SimpleQueue[tuple[Lease, ReplayStep] | None] = field(default_factory=SimpleQueue)
    _come: SimpleQueue[Come] = field(default_factory=SimpleQueue)

    def do_all(self) -> int | None:
        """Take and do steps until none can be taken and none is under way; how many were written, None where none could be taken.

        What was paid for is written, whatever becomes of the other steps.
        """
        if not self._take(self.places):
            return None
        threads = [Thread(target=self._call, daemon=True) for _ in range(self.places)]
        for thread in threads:
            thread.start()
        try:
            return self._go_on()
        finally:
            self._write_the_rest()
            for _ in threads:
                self._waiting.put(None)
            for thread in threads:
                thread.join()

    def _go_on(self) -> int:
        written, look_at = 0, 0.0
        while True:
            free = self.places - self._under_way
            if free and monotonic() >= look_at and not self._take(free):
                look_at = monotonic() + LOOK_AGAIN
            if not self._under_way:
                return written
            come = self._next_come(LOOK_AGAIN if self._under_way < self.places else None)
            written += self._write(come)
            _raise_what_failed(come)
            look_at = 0.0 if come else look_at

    def _take(self, most: int) -> int:
        """Take up to so many steps and give them to the threads; how many there were."""
        found = leases.claim(self.replay.id, self.worker, calls=True, most=most)
        steps = taken.read(self.replay, found) if found else {}
        for lease in found:
            if lease.step_id in steps:
                self.keeper.keep(lease.token)
                self._under_way += 1
                self._waiting.put((lease, steps[lease.step_id]))
        return len(found)

    def _next_come(self, seconds: float | None) -> list[Come]:
        """What has come back, at least one where that takes no longer."""
        try:
            found = [self._come.get(timeout=seconds)]
        except Empty:
            return []
        while not self._come.empty():
            found.append(self._come.get())
        return found

    def _write(self, come: Sequence[Come]) -> int:
        self._under_way -= len(come)
        taken.renew_connection()
        done = [
            Result(lease=each.lease, step=each.step, outcome=each.outcome) for each in come if each.outcome
        ]
        written = writing.write(done)
        for each in come:
            self.keeper.let_go(each.lease.token)
        return written

    def _write_the_rest(self) -> None:
        while self._under_way:
            try:
                self._write(self._next_come(None))
            except Error as why:
                log.warning("what a call came to could not be written: %s", why)
                connection.close()

    def _call(self) -> None:
        try:
            with using(self.beside):
                while (given := self._waiting.get()) is not None:
                    self._come.put(_done(*given))
        finally:
            connections.close_all()


def _raise_what_failed(come: Sequence[Come]) -> None:
    for each in come:
        if each.why_not is not None and not isinstance(each.why_not, LeaseLost):
            raise each.why_not


def _done(lease: Lease, step: ReplayStep) -> Come:
    try:
        return Come(lease=lease, step=step, outcome=taken.outcome_of(step, lease))
    except Exception as why:  # noqa: BLE001  # it is raised where the steps are taken
        return Come(lease=lease, step=step, why_not=why)
