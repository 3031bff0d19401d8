"""Small requests that come at once share a transaction: to lock, plan and commit takes longer than to write one span."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Event
from time import monotonic
from typing import Final

MOST_TOGETHER: Final = 1_000
PATIENCE: Final = 0.02
"""Seconds that work waits, at most, for those who were there lately: about what one of them takes to read its answer and send the next."""


@dataclass(slots=True, eq=False)
class _Waiting[Item]:
    items: Sequence[Item]
    woken: Event = field(default_factory=Event)
    leads: bool = False
    failed: BaseException | None = None


class Together[Item]:
    """Does the work of all threads that wait at a moment in one of them, once.

    Whoever comes alone works at once; those who come meanwhile wait, and then one of them works for all. It gives those who were there
    just before `patience` seconds to come again: as with a database's group commit, all that come in turn share one piece of work instead of
    falling into two that wait for each other. Work that fails for several is done again for each alone, so that nobody is refused for the
    items of another.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], None],
        *,
        before_waiting: Callable[[], None] = lambda: None,
        patience: float = PATIENCE,
    ) -> None:
        """`before_waiting` is called in a thread that is going to wait: to give back what others need meanwhile."""
        self._work = work
        self._before_waiting = before_waiting
        self._patience = patience
        self._came = Condition()
        self._queue: list[_Waiting[Item]] = []
        self._busy = False
        self._lately = 0
        self._expected_until = 0.0

    def do(self, items: Sequence[Item]) -> None:
        """Return when the work for these items is done; raises what it raised for them."""
        mine = _Waiting(items)
        with self._came:
            self._queue.append(mine)
            self._came.notify()
            mine.leads, self._busy = not self._busy, True
        try:
            if not mine.leads:
                self._before_waiting()
                mine.woken.wait()
            if mine.leads:
                self._work_for(self._next(mine))
        finally:
            self._leave(mine)
        if mine.failed is not None:
            raise mine.failed

    def _next(self, mine: _Waiting[Item]) -> list[_Waiting[Item]]:
        """Mine and those that came after it, as many as one transaction should hold."""
        with self._came:
            self._came.wait_for(self._all_came, self._expected_until - monotonic())
            self._queue.remove(mine)
            chosen, size = [mine], len(mine.items)
            while self._queue and size + len(self._queue[0].items) <= MOST_TOGETHER:
                chosen.append(self._queue.pop(0))
                size += len(chosen[-1].items)
            self._lately = len(chosen)
        return chosen

    def _leave(self, mine: _Waiting[Item]) -> None:
        """Whoever leads lets the next one lead, however its own turn ended."""
        with self._came:
            if mine in self._queue:  # it was interrupted before its turn
                self._queue.remove(mine)
            if not mine.leads:
                return
            self._lately += len(self._queue)
            self._expected_until = monotonic() + self._patience
            self._busy = bool(self._queue)
            for following in self._queue[:1]:
                following.leads = True
                following.woken.set()

    def _all_came(self) -> bool:
        """Whether there is nobody more to wait for, or no room for more."""
        return (
            len(self._queue) >= self._lately
            or sum(len(each.items) for each in self._queue) >= MOST_TOGETHER
            or monotonic() >= self._expected_until
        )

    def _work_for(self, some: Sequence[_Waiting[Item]]) -> None:
        try:
            failed = self._tried([item for each in some for item in each.items])
            for each in some:
                each.failed = failed if len(some) == 1 or failed is None else self._tried(each.items)
        except BaseException as why:  # this thread ends: what it has not done was not done for anybody
            for each in some:
                each.failed = each.failed or why
            raise
        finally:
            for each in some:
                each.woken.set()

    def _tried(self, items: Sequence[Item]) -> BaseException | None:
        try:
            self._work(items)
        except Exception as why:  # noqa: BLE001  # it is raised where it belongs
            return why
        return None
