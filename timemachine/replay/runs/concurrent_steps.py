"""Steps that call a model, run concurrently: threads call the models, and one coordinator claims steps and writes results.

Reading or writing several steps costs little more than one, and threads that all did it would wait for each
other. A step occupies a call slot only until the model has answered; the next call does not wait for the
answer to be grounded and written. If no other worker calls the provider, some steps are claimed ahead, so
that the next call starts immediately when one ends.
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
from timemachine.replay.runs.claimed_steps import load, next_to_call, outcome_of, renew_connection
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.step_results import Result

log = logging.getLogger(__name__)

LOOK_AGAIN: Final = 0.5
"""Seconds between attempts to claim a step while others are running."""
WRITE_WITHIN: Final = 0.1
"""Seconds within which finished steps are written. Several are written together, and no call waits for that."""
READ_AT_ONCE: Final = 16
HELD_PER_SLOT: Final = 2
"""How many steps are held for each slot, including those that are answered but not written yet, without those claimed ahead."""
CLAIMED_AHEAD: Final = 8
"""How many steps are claimed before there is a slot for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedStep:
    """A claimed step; `step` is None if it was erased in the meantime."""

    lease: StepLease
    step: ReplayStep | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStep:
    """What a thread returns for a step: its result or the error. Both are None if the step was erased in the meantime."""

    lease: StepLease
    result: Result | None = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished:
    """The call of a step has ended, and its slot is free."""

    lease: StepLease


class CallQueue:
    """The claimed steps in the order of their calls. At most `slots` calls run at a time."""

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._is_stopped = False
        self._waiting: deque[ClaimedStep] = deque()
        self._ready: SimpleQueue[ClaimedStep | None] = SimpleQueue()
        self._lock = Lock()

    def add(self, claimed: ClaimedStep) -> None:
        with self._lock:
            self._waiting.append(claimed)
            self._start()

    def call_ended(self) -> None:
        """Free the slot of a call that has ended."""
        with self._lock:
            self._free += 1
            self._start()

    def next(self) -> ClaimedStep | None:
        """Wait for the next step whose call may start, and return it; None at the end."""
        return self._ready.get()

    def end(self, threads: int) -> None:
        """Tell this many threads to stop."""
        for _ in range(threads):
            self._ready.put(None)

    def take_back(self) -> list[ClaimedStep]:
        """Remove and return the steps whose calls have not started."""
        with self._lock:
            later = list(self._waiting)
            self._waiting.clear()
        return later

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True

    def _start(self) -> None:
        while self._free and self._waiting and not self._is_stopped:
            self._free -= 1
            self._ready.put(self._waiting.popleft())


class ConcurrentSteps:
    """The call slots of one replay, the threads that make the calls, and the steps that they are running."""

    def __init__(
        self, *, replay: Replay, worker: str, keeper: LeaseKeeper, beside: ProcessPool | None, slots: int
    ) -> None:
        self._replay, self._worker, self._keeper, self._beside = replay, worker, keeper, beside
        self._slots = slots
        # Steps by attempt: a step that was given back may be claimed again before its message arrives.
        self._claimed: dict[int, StepLease] = {}
        self._answered: dict[int, StepLease] = {}
        self._finished: list[FinishedStep] = []
        self._write_at = self._claim_at = self._claim_ahead_at = 0.0
        self._loaded: dict[int, ReplayStep] = {}
        self._reach = ModelLookup(replay.project_id)
        self._queue = CallQueue(slots)
        self._can_claim_ahead = slots == settings.MODEL_CALLS_AT_ONCE and leases.can_claim_ahead(replay.id)
        self._messages: SimpleQueue[FinishedStep | CallFinished] = SimpleQueue()

    def do_all(self) -> int | None:
        """Claim and run steps until none can be claimed and none is running.

        Return how many were written, None if none could be claimed. Results that were paid for are written
        even if other steps fail.
        """
        if not self._claim(self._slots, spared=self._answered):
            return None
        threads = [Thread(target=self._run_thread, daemon=True) for _ in range(HELD_PER_SLOT * self._slots)]
        for thread in threads:
            thread.start()
        try:
            return self._run()
        finally:
            try:
                self._give_back()
            finally:
                self._shut_down(threads)

    def _run(self) -> int:
        written = 0
        while True:
            free = min(self._slots, HELD_PER_SLOT * self._slots - len(self._answered)) - len(self._claimed)
            if free > 0:
                if monotonic() >= self._claim_at and not self._claim(free, spared=self._answered):
                    self._claim_at = monotonic() + LOOK_AGAIN
            else:
                self._claim_ahead()
            if not self._claimed and not self._answered:
                return written
            if self._receive(LOOK_AGAIN if free > 0 or self._should_claim_ahead() else None):
                self._claim_at = 0.0
            written += self._write_if_due()

    def _claim_ahead(self) -> None:
        """Claim steps ahead of free slots, if this replay uses every slot of the only provider it calls.

        Then no other worker calls the provider, and none can start before there are fewer steps than slots
        here.
        """
        if not self._should_claim_ahead() or monotonic() < self._claim_ahead_at:
            return
        ahead = len(self._claimed) - self._slots
        if not self._claim(CLAIMED_AHEAD - ahead, spared=self._answered | self._claimed, ahead=True):
            self._claim_ahead_at = monotonic() + LOOK_AGAIN

    def _should_claim_ahead(self) -> bool:
        """Return whether few enough steps are claimed ahead to claim more."""
        return self._can_claim_ahead and 0 <= len(self._claimed) - self._slots <= CLAIMED_AHEAD // 2

    def _claim(self, most: int, *, spared: Mapping[int, StepLease], ahead: bool = False) -> int:
        """Claim at most this many steps, queue them, and return their number. The `spared` steps need no slot."""
        found = leases.claim(
            self._replay.id, self._worker, calls=True, most=most, spared=spared.values(), ahead=ahead
        )
        self._load_some([lease.pk for lease in found])
        for lease in found:
            self._keeper.keep(lease.token)
            self._claimed[lease.attempt_id] = lease
            self._queue.add(ClaimedStep(lease=lease, step=self._loaded.pop(lease.pk, None)))
        return len(found)

    def _load_some(self, needed: Sequence[int]) -> None:
        """Load these steps if they are not loaded yet, and some more: loaded in bulk, a step takes a tenth of the time."""
        unread = [each for each in needed if each not in self._loaded]
        if unread:
            ahead = next_to_call(self._replay, max(0, READ_AT_ONCE - len(unread)))
            self._loaded = load(self._replay, [*needed, *ahead])

    def _receive(self, seconds: float | None) -> bool:
        """Wait for messages from the threads, at most until finished steps must be written. Return whether there were any."""
        if self._finished:
            due = max(0.0, self._write_at - monotonic())
            seconds = due if seconds is None else min(due, seconds)
        try:
            self._handle(self._messages.get(timeout=seconds))
        except Empty:
            return False
        while not self._messages.empty():
            self._handle(self._messages.get())
        return True

    def _handle(self, message: FinishedStep | CallFinished) -> None:
        """Free the slot of a call that has ended; its step is held until it is written."""
        if isinstance(message, FinishedStep):
            if not self._finished:
                self._write_at = monotonic() + WRITE_WITHIN
            self._finished.append(message)
        self._claimed.pop(message.lease.attempt_id, None)
        self._answered[message.lease.attempt_id] = message.lease

    def _write_if_due(self) -> int:
        finished = self._finished
        alone = not self._claimed and len(finished) == len(self._answered)
        due = alone or monotonic() >= self._write_at or any(each.error for each in finished)
        if not finished or not due:
            return 0
        written = self._write()
        for each in finished:
            if each.error is not None and not isinstance(each.error, LeaseLost):
                raise each.error
        return written

    def _write(self) -> int:
        finished, self._finished = self._finished, []
        for each in finished:
            del self._answered[each.lease.attempt_id]
        renew_connection()
        written = step_results.write([each.result for each in finished if each.result])
        for each in finished:
            self._keeper.let_go(each.lease.token)
        return written

    def _give_back(self) -> None:
        """Give back the steps whose calls have not started. If that fails, they are claimed again when their leases expire."""
        given = [claimed.lease for claimed in self._queue.take_back()]
        try:
            leases.give_back(given)
        except Error as why:
            log.warning("cannot give back claimed steps: %s", why)
            connection.close()
        for lease in given:
            del self._claimed[lease.attempt_id]
            self._keeper.let_go(lease.token)

    def _shut_down(self, threads: Sequence[Thread]) -> None:
        try:
            self._write_the_rest()
        finally:
            self._queue.end(len(threads))
        for thread in threads:
            thread.join()

    def _write_the_rest(self) -> None:
        while self._claimed or self._answered:
            try:
                if not self._finished:
                    self._receive(None)
                if self._finished:
                    self._write()
            except Error as why:
                log.warning("cannot write the result of a call: %s", why)
                connection.close()

    def _run_thread(self) -> None:
        try:
            with use_pool(self._beside):
                while claimed := self._queue.next():
                    self._messages.put(self._finish(claimed))
        finally:
            connections.close_all()

    def _finish(self, claimed: ClaimedStep) -> FinishedStep:
        """Run a step. The next call starts when this one's call ends, or when the step ends without a call."""
        lease, step, is_over = claimed.lease, claimed.step, False

        def call_ended() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                self._queue.call_ended()
                self._messages.put(CallFinished(lease=lease))

        try:
            if step is None:
                return FinishedStep(lease=lease)
            outcome = outcome_of(step, lease, self._reach, after_call=call_ended)
        except BaseException as why:  # noqa: BLE001  # raised again by the coordinator
            if not isinstance(why, LeaseLost):
                self._queue.stop()  # before this slot is freed, so that no other call starts
            return FinishedStep(lease=lease, error=why)
        else:
            return FinishedStep(lease=lease, result=Result(lease=lease, step=step, outcome=outcome))
        finally:
            call_ended()
