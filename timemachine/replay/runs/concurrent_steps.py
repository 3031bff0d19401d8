"""Steps that call a model, side by side: threads do them, and one that does nothing else takes them and writes what they came to.

Reading or writing some steps costs little more than one, and threads that all did it would wait for one another. A step holds a place
only until the model has answered: the next call does not wait until its answer is grounded and written. Where no other
worker calls the provider, some steps are taken ahead, and the next call begins as soon as one is over.
"""

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Final

from django.conf import settings
from django.db import Error, connection, connections

from timemachine.core.leases import LeaseKeeper, LeaseLost
from timemachine.core.pure.process_pool import ProcessPool, use_pool
from timemachine.llm.queries import ModelLookup
from timemachine.replay.runs import leases, step_results
from timemachine.replay.runs.claimed_steps import next_to_call, outcome_of, read, renew_connection
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.step_results import Result

log = logging.getLogger(__name__)

LOOK_AGAIN: Final = 0.5
"""Seconds after which a step that could not be taken is looked for again while others are under way."""
WRITE_WITHIN: Final = 0.1
"""Seconds within which what has come is written: several steps are written together, and no call waits for that."""
READ_AT_ONCE: Final = 16
HELD: Final = 2
"""How many times as many steps as there are places are held at a time, those that were answered and are not written yet included;
those that were taken ahead are not."""
AHEAD: Final = 8
"""How many steps are taken before there is a place for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A step that was taken; None where it was erased meanwhile."""

    lease: StepLease
    step: ReplayStep | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Come:
    """What came back from a thread: what a step came to, or why that is nothing; neither where it was erased meanwhile."""

    lease: StepLease
    result: Result | None = None
    why_not: BaseException | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The call for a step is over, and its place is free."""

    lease: StepLease


class Turns:
    """Steps that were taken, in the order in which they are called for: so many at a time, the others once one of those is over."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._is_stopped = False
        self._later: deque[Taken] = deque()
        self._now: SimpleQueue[Taken | None] = SimpleQueue()
        self._lock = Lock()

    def add(self, taken: Taken) -> None:
        """Have it called for in its turn."""
        with self._lock:
            self._later.append(taken)
            self._begin()

    def over(self) -> None:
        """One of the calls is over."""
        with self._lock:
            self._free += 1
            self._begin()

    def next(self) -> Taken | None:
        """What is called for next, once there is such; None at the end."""
        return self._now.get()

    def end(self, threads: int) -> None:
        """Tell so many threads that this is the end."""
        for _ in range(threads):
            self._now.put(None)

    def take_back(self) -> list[Taken]:
        """Those whose turn has not come, and now never will."""
        with self._lock:
            later = list(self._later)
            self._later.clear()
        return later

    def stop(self) -> None:
        """Nobody's turn comes any more."""
        with self._lock:
            self._is_stopped = True

    def _begin(self) -> None:
        while self._free and self._later and not self._is_stopped:
            self._free -= 1
            self._now.put(self._later.popleft())


class SideBySide:
    """So many places for calls, the threads that call, and the steps that are under way in them."""

    def __init__(
        self, *, replay: Replay, worker: str, keeper: LeaseKeeper, beside: ProcessPool | None, places: int
    ) -> None:
        self._replay, self._worker, self._keeper, self._beside = replay, worker, keeper, beside
        self._places = places
        # steps by the attempts at them: one that was given back may be taken again before that was heard
        self._taken: dict[int, StepLease] = {}
        self._answered: dict[int, StepLease] = {}
        self._come: list[Come] = []
        self._write_at = self._look_at = self._look_ahead_at = 0.0
        self._read: dict[int, ReplayStep] = {}
        self._reach = ModelLookup(replay.project_id)
        self._turns = Turns(places)
        self._may_take_ahead = places == settings.MODEL_CALLS_AT_ONCE and leases.may_be_taken_ahead(replay.id)
        self._heard: SimpleQueue[Come | Answered] = SimpleQueue()

    def do_all(self) -> int | None:
        """Take and do steps until none can be taken and none is under way; how many were written, None where none could be taken.

        What was paid for is written, whatever becomes of the other steps.
        """
        if not self._take(self._places, spared=self._answered):
            return None
        threads = [Thread(target=self._call, daemon=True) for _ in range(HELD * self._places)]
        for thread in threads:
            thread.start()
        try:
            return self._go_on()
        finally:
            try:
                self._give_back()
            finally:
                self._end(threads)

    def _go_on(self) -> int:
        written = 0
        while True:
            room = min(self._places, HELD * self._places - len(self._answered)) - len(self._taken)
            if room > 0:
                self._take_some(room)
            else:
                self._take_ahead()
            if not self._taken and not self._answered:
                return written
            if self._listen(LOOK_AGAIN if room > 0 or self._is_to_look_ahead() else None):
                self._look_at = 0.0
            written += self._write_if_due()

    def _take_some(self, most: int) -> None:
        if monotonic() >= self._look_at and not self._take(most, spared=self._answered):
            self._look_at = monotonic() + LOOK_AGAIN

    def _take_ahead(self) -> None:
        """Take some that there is no place for yet, where every place of the one provider is this replay's: then no other worker calls it,
        and none can begin to before there are fewer steps than places here.
        """
        if not self._is_to_look_ahead() or monotonic() < self._look_ahead_at:
            return
        ahead = len(self._taken) - self._places
        if not self._take(AHEAD - ahead, spared=self._answered | self._taken, ahead=True):
            self._look_ahead_at = monotonic() + LOOK_AGAIN

    def _is_to_look_ahead(self) -> bool:
        """Whether so few are taken ahead that more might be."""
        return self._may_take_ahead and 0 <= len(self._taken) - self._places <= AHEAD // 2

    def _take(self, most: int, *, spared: Mapping[int, StepLease], ahead: bool = False) -> int:
        """Take up to so many steps and give them to the threads; how many there were. Those that are `spared` need no place."""
        found = leases.claim(
            self._replay.id, self._worker, calls=True, most=most, spared=spared.values(), ahead=ahead
        )
        self._read_some([lease.pk for lease in found])
        for lease in found:
            self._keeper.keep(lease.token)
            self._taken[lease.attempt_id] = lease
            self._turns.add(Taken(lease=lease, step=self._read.pop(lease.pk, None)))
        return len(found)

    def _read_some(self, needed: Sequence[int]) -> None:
        """Read these steps where that was not done yet, and then some more: of many, one takes a tenth of the time that it takes alone."""
        unread = [each for each in needed if each not in self._read]
        if unread:
            ahead = next_to_call(self._replay, max(0, READ_AT_ONCE - len(unread)))
            self._read = read(self._replay, [*needed, *ahead])

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
        self._taken.pop(heard.lease.attempt_id, None)
        self._answered[heard.lease.attempt_id] = heard.lease

    def _write_if_due(self) -> int:
        come = self._come
        alone = not self._taken and len(come) == len(self._answered)
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
        renew_connection()
        written = step_results.write([each.result for each in come if each.result])
        for each in come:
            self._keeper.let_go(each.lease.token)
        return written

    def _give_back(self) -> None:
        """Give back what is not called for yet; what cannot be is taken again when its lease has run out."""
        given = [taken.lease for taken in self._turns.take_back()]
        try:
            leases.give_back(given)
        except Error as why:
            log.warning("steps that were taken could not be given back: %s", why)
            connection.close()
        for lease in given:
            del self._taken[lease.attempt_id]
            self._keeper.let_go(lease.token)

    def _end(self, threads: Sequence[Thread]) -> None:
        try:
            self._write_the_rest()
        finally:
            self._turns.end(len(threads))
        for thread in threads:
            thread.join()

    def _write_the_rest(self) -> None:
        while self._taken or self._answered:
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
            with use_pool(self._beside):
                while taken := self._turns.next():
                    self._heard.put(self._done(taken))
        finally:
            connections.close_all()

    def _done(self, taken: Taken) -> Come:
        """What came of a step. The next one's turn comes when its call is over, or it has come to an end without one."""
        lease, step, is_over = taken.lease, taken.step, False

        def over() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                self._turns.over()
                self._heard.put(Answered(lease=lease))

        try:
            if step is None:
                return Come(lease=lease)
            outcome = outcome_of(step, lease, self._reach, after_call=over)
        except BaseException as why:  # noqa: BLE001  # it is raised where the steps are taken
            if not isinstance(why, LeaseLost):
                self._turns.stop()  # before its own turn is over: what would be paid for next is given back
            return Come(lease=lease, why_not=why)
        else:
            return Come(lease=lease, result=Result(lease=lease, step=step, outcome=outcome))
        finally:
            over()
