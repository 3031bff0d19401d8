"""Small concurrent requests share a transaction: locking, planning and committing take longer than writing one span."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Event
from time import monotonic
from typing import Final

MAX_BATCH: Final = 1_000
"""Maximum number of items per batch, unless a single request has more."""
PATIENCE: Final = 0.02
"""Maximum time in seconds to wait for recent callers to return: about the time a client needs to read its response and
send the next request."""


@dataclass(slots=True, eq=False)
class _Waiting[Item]:
    items: Sequence[Item]
    wake_up: Event = field(default_factory=Event)
    is_leader: bool = False
    error: BaseException | None = None


class RequestBatcher[Item]:
    """Runs the work of concurrent threads in one of them.

    A single caller runs immediately. Callers that arrive meanwhile wait, and then one of them runs the work for all. It
    waits up to `patience` seconds for the callers of the last batch to come back, as in a database's group commit:
    otherwise callers split into two groups that wait for each other. If a shared batch fails, each caller's items are
    run again separately, so that no caller fails because of another one's items.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], None],
        *,
        before_waiting: Callable[[], None] = lambda: None,
        patience: float = PATIENCE,
    ) -> None:
        """`before_waiting` is called in a thread before it waits, to release what other threads need."""
        self._work = work
        self._before_waiting = before_waiting
        self._patience = patience
        self._came = Condition()
        self._queue: list[_Waiting[Item]] = []
        self._busy = False
        self._lately = 0
        self._expected_until = 0.0

    def run(self, items: Sequence[Item]) -> None:
        """Return when the work for these items is done. Raises what it raised for them."""
        mine = _Waiting(items)
        with self._came:
            self._queue.append(mine)
            self._came.notify()
            mine.is_leader, self._busy = not self._busy, True
        try:
            if not mine.is_leader:
                self._before_waiting()
                mine.wake_up.wait()
            if mine.is_leader:
                self._work_for(self._next(mine))
        finally:
            self._leave(mine)
        if mine.error is not None:
            raise mine.error

    def _next(self, mine: _Waiting[Item]) -> list[_Waiting[Item]]:
        """Return this caller and those after it, up to `MAX_BATCH` items."""
        with self._came:
            self._came.wait_for(self._all_came, self._expected_until - monotonic())
            self._queue.remove(mine)
            chosen, size = [mine], len(mine.items)
            while self._queue and size + len(self._queue[0].items) <= MAX_BATCH:
                chosen.append(self._queue.pop(0))
                size += len(chosen[-1].items)
            self._lately = len(chosen)
        return chosen

    def _leave(self, mine: _Waiting[Item]) -> None:
        """If this caller is the leader, make the next one the leader, however this one ended."""
        with self._came:
            if mine in self._queue:  # interrupted before its turn
                self._queue.remove(mine)
            if not mine.is_leader:
                return
            self._lately += len(self._queue)
            self._expected_until = monotonic() + self._patience
            self._busy = bool(self._queue)
            for following in self._queue[:1]:
                following.is_leader = True
                following.wake_up.set()

    def _all_came(self) -> bool:
        """Return whether nobody else is expected, or the batch is full."""
        return (
            len(self._queue) >= self._lately
            or sum(len(each.items) for each in self._queue) >= MAX_BATCH
            or monotonic() >= self._expected_until
        )

    def _work_for(self, some: Sequence[_Waiting[Item]]) -> None:
        try:
            failed = self._tried([item for each in some for item in each.items])
            for each in some:
                each.error = failed if len(some) == 1 or failed is None else self._tried(each.items)
        except BaseException as why:  # this thread is ending, so the unfinished work failed for every caller
            for each in some:
                each.error = each.error or why
            raise
        finally:
            for each in some:
                each.wake_up.set()

    def _tried(self, items: Sequence[Item]) -> BaseException | None:
        try:
            self._work(items)
        except Exception as why:  # noqa: BLE001  # raised in the caller's thread
            return why
        return None
