"""Steps that call a model, side by side: threads do them, and one that does nothing else takes them and writes what they came to.

Reading or writing some steps costs little more than one, and threads that all did it would wait for one another. A step holds a place
only until the model has answered: the next call does not wait until its answer is grounded and written.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Final

from django.db import Error, connection, connections

from timemachine.base.aside import Beside, using
from timemachine.providers.reach import Reach
from timemachine.replay import leases, taken, writing
from timemachine.replay.leases import Keeper, Lease, LeaseLost
from timemachine.replay.models import Replay, ReplayStep
from timemachine.replay.writing import Result

log = logging.getLogger(__name__)

LOOK_AGAIN: Final = 0.5
"""Seconds after which a step that could not be taken is looked for again while others are under way."""
WRITE_WITHIN: Final = 0.1
"""Seconds within which what has come is written: several steps are written together, and no call waits for that."""
READ_AT_ONCE: Final = 16
HELD: Final = 2
"""How many times as many steps as there are places are held at a time, those that were answered and are not written yet included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Come:
    """What came back from a thread: what a step came to, or why that is nothing; neither where it was erased meanwhile."""

    lease: Lease
    result: Result | None = None
    why_not: Exception | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The call for a step is over, and its place is free."""

    lease: Lease


class SideBySide:
    """So many places for calls, the threads that call, and the steps that are under way in them."""

    def __init__(
        self, *, replay: Replay, worker: str, keeper: Keeper, beside: Beside | None, places: int
    ) -> None:
        self._replay, self._worker, self._keeper, self._beside = replay, worker, keeper, beside
        self._places = places
        # steps by the attempts at them: one that was given back may be taken again before that was heard
        self._calling: dict[int, int] = {}
        self._answered: dict[int, int] = {}
        self._come: list[Come] = []
        self._write_at = 0.0
        self._read: dict[int, ReplayStep] = {}
        self._reach = Reach(replay.project_id)
        self._waiting: SimpleQueue[tuple[Lease, ReplayStep | None] | None] = SimpleQueue()
        self._heard: SimpleQueue[Come | Answered] = SimpleQueue()

    def do_all(self) -> int | None:
        """Take and do steps until none can be taken and none is under way; how many were written, None where none could be taken.

        What was paid for is written, whatever becomes of the other steps.
        """
        if not self._take(self._places):
            return None
        threads = [Thread(target=self._call, daemon=True) for _ in range(HELD * self._places)]
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
            free = min(self._places, HELD * self._places - len(self._answered)) - len(self._calling)
            if free > 0 and monotonic() >= look_at and not self._take(free):
                look_at = monotonic() + LOOK_AGAIN
            if not self._calling and not self._answered:
                return written
            if self._listen(LOOK_AGAIN if free > 0 else None):
                look_at = 0.0
            written += self._write_if_due()

    def _take(self, most: int) -> int:
        """Take up to so many steps and give them to the threads; how many there were."""
        answered = self._answered.values()
        found = leases.claim(self._replay.id, self._worker, calls=True, most=most, answered=answered)
        self._read_some([lease.step_id for lease in found])
        for lease in found:
            self._keeper.keep(lease.token)
            self._calling[lease.attempt_id] = lease.step_id
            self._waiting.put((lease, self._read.pop(lease.step_id, None)))
        return len(found)

    def _read_some(self, needed: Sequence[int]) -> None:
        """Read these steps where that was not done yet, and then some more: of many, one takes a tenth of the time that it takes alone."""
        unread = [each for each in needed if each not in self._read]
        if unread:
            ahead = taken.next_to_call(self._replay, max(0, READ_AT_ONCE - len(unread)))
            self._read = taken.read(self._replay, [*needed, *ahead])

    def _listen(self, seconds: float | None) -> bool:
        """Whether the threads said something within so many seconds, or before what has come has to be written."""
        if self._come:
            due = max(0.0, self._write_at - monotonic())
            seconds = due if seconds is None else min(due, seconds)
        try:
            self._note(self._heard.get(timeout=seconds))
        except Empty:
            return False
        while not self._heard.empty():
            self._note(self._heard.get())
        return True

    def _note(self, heard: Come | Answered) -> None:
        """The call is over, and its place free; the step is held until it is written."""
        if isinstance(heard, Come):
            if not self._come:
                self._write_at = monotonic() + WRITE_WITHIN
            self._come.append(heard)
        self._calling.pop(heard.lease.attempt_id, None)
        self._answered[heard.lease.attempt_id] = heard.lease.step_id

    def _write_if_due(self) -> int:
        come = self._come
        alone = not self._calling and len(come) == len(self._answered)
        due = alone or monotonic() >= self._write_at or any(each.why_not for each in come)
        if not come or not due:
            return 0
        written = self._write()
        for each in come:
            if each.why_not is not None and not isinstance(each.why_not, LeaseLost):
                raise each.why_not
        return written

    def _write(self) -> int:
        come, self._come = self._come, []
        for each in come:
            del self._answered[each.lease.attempt_id]
        taken.renew_connection()
        written = writing.write([each.result for each in come if each.result])
        for each in come:
            self._keeper.let_go(each.lease.token)
        return written

    def _write_the_rest(self) -> None:
        while self._calling or self._answered:
            try:
                if not self._come:
                    self._listen(None)
                if self._come:
                    self._write()
            except Error as why:
                log.warning("what a call came to could not be written: %s", why)
                connection.close()

    def _call(self) -> None:
        try:
            with using(self._beside):
                while (given := self._waiting.get()) is not None:
                    self._heard.put(self._done(*given))
        finally:
            connections.close_all()

    def _done(self, lease: Lease, step: ReplayStep | None) -> Come:
        if step is None:
            return Come(lease=lease)

        def over() -> None:
            self._heard.put(Answered(lease=lease))

        try:
            outcome = taken.outcome_of(step, lease, self._reach, after_call=over)
        except Exception as why:  # noqa: BLE001  # it is raised where the steps are taken
            return Come(lease=lease, why_not=why)
        return Come(lease=lease, result=Result(lease=lease, step=step, outcome=outcome))
