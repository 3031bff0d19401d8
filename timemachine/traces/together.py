"""Small requests that come at once share a transaction: to lock, plan and commit takes longer than to write one span."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Final

MOST_TOGETHER: Final = 1_000


@dataclass(slots=True, eq=False)
class _Waiting[Item]:
    items: Sequence[Item]
    woken: Event = field(default_factory=Event)
    done: bool = False
    failed: BaseException | None = None


class Together[Item]:
    """Does the work of all threads that wait at a moment in one of them, once.

    Whoever comes first works at once; those who come meanwhile wait, and then one of them works for all. Work that fails for several is
    done again for each alone, so that nobody is refused for the items of another.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], None], *, before_waiting: Callable[[], None] = lambda: None
    ) -> None:
        """`before_waiting` is called in a thread that is going to wait: to give back what others need meanwhile."""
        self._work = work
        self._before_waiting = before_waiting
        self._lock = Lock()
        self._queue: list[_Waiting[Item]] = []
        self._busy = False

    def do(self, items: Sequence[Item]) -> None:
        """Return when the work for these items is done; raises what it raised for them."""
        mine = _Waiting(items)
        with self._lock:
            self._queue.append(mine)
            waits, self._busy = self._busy, True
        if waits:
            self._before_waiting()
            mine.woken.wait()
        if not mine.done:
            self._lead(mine)
        if mine.failed is not None:
            raise mine.failed

    def _lead(self, mine: _Waiting[Item]) -> None:
        try:
            self._work_for(self._next(mine))
        finally:
            with self._lock:
                if self._queue:
                    self._queue[0].woken.set()  # and lead
                else:
                    self._busy = False

    def _next(self, mine: _Waiting[Item]) -> list[_Waiting[Item]]:
        """Mine and those that came after it, as many as one transaction should hold."""
        with self._lock:
            self._queue.remove(mine)
            chosen, size = [mine], len(mine.items)
            while self._queue and size + len(self._queue[0].items) <= MOST_TOGETHER:
                chosen.append(self._queue.pop(0))
                size += len(chosen[-1].items)
        return chosen

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
                each.done = True
                each.woken.set()

    def _tried(self, items: Sequence[Item]) -> BaseException | None:
        try:
            self._work(items)
        except Exception as why:  # noqa: BLE001  # it is raised where it belongs
            return why
        return None
