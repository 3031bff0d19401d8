"""Something to be done at a later time unless it is called off before, by one thread for all: one of its own takes longer to start than many a call."""

import heapq
import logging
import os
from collections.abc import Callable
from functools import cache
from itertools import count
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Final

log = logging.getLogger(__name__)

_number: Final = count()
_beginning: Final = Lock()


class Deadline:
    """What will be done at its time, unless it is called off."""

    def __init__(self, at: float, do: Callable[[], object]) -> None:
        self.at = at
        self._do: Callable[[], object] | None = do

    def call_off(self) -> None:
        """Have it not done, where it has not begun."""
        self._do = None

    def come(self) -> None:
        """Do it."""
        if do := self._do:
            do()


class _Watch:
    def __init__(self) -> None:
        self._ahead: list[tuple[float, int, Deadline]] = []
        self._sooner = Condition()
        Thread(target=self._go_on, daemon=True).start()

    def add(self, deadline: Deadline) -> None:
        with self._sooner:
            heapq.heappush(self._ahead, (deadline.at, next(_number), deadline))
            if self._ahead[0][2] is deadline:
                self._sooner.notify()

    def _go_on(self) -> None:
        while True:
            try:
                self._next().come()
            except Exception:  # the others are to come all the same
                log.exception("what was to be done at a deadline failed")

    def _next(self) -> Deadline:
        with self._sooner:
            while not self._ahead or self._ahead[0][0] > monotonic():
                self._sooner.wait(self._ahead[0][0] - monotonic() if self._ahead else None)
            return heapq.heappop(self._ahead)[2]


def after(seconds: float, do: Callable[[], object]) -> Deadline:
    """Have something short done in so many seconds, in another thread."""
    deadline = Deadline(monotonic() + seconds, do)
    with _beginning:
        watch = _watch(os.getpid())
    watch.add(deadline)
    return deadline


@cache
def _watch(process: int) -> _Watch:  # noqa: ARG001  # a fork does not have its parent's threads
    return _Watch()
