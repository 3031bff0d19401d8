"""Call functions later: once after a delay, or repeatedly while a block runs."""

import heapq
import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from itertools import count
from threading import Condition, Event, Lock, Thread
from time import monotonic
from typing import Final

log = logging.getLogger(__name__)

_number: Final = count()
_lock: Final = Lock()


class Timer:
    """A function that will be called at its time unless it is cancelled first."""

    def __init__(self, at: float, do: Callable[[], object]) -> None:
        self.at = at
        self._do: Callable[[], object] | None = do

    def cancel(self) -> None:
        """Do not call the function, unless it has begun."""
        self._do = None

    def run(self) -> None:
        """Call the function."""
        if do := self._do:
            do()


class _TimerThread:
    def __init__(self) -> None:
        self._pending: list[tuple[float, int, Timer]] = []
        self._changed = Condition()
        Thread(target=self._loop, daemon=True).start()

    def add(self, timer: Timer) -> None:
        with self._changed:
            heapq.heappush(self._pending, (timer.at, next(_number), timer))
            if self._pending[0][2] is timer:
                self._changed.notify()

    def _loop(self) -> None:
        while True:
            try:
                self._next().run()
            except Exception:  # the other timers must still run
                log.exception("a timer's function failed")

    def _next(self) -> Timer:
        with self._changed:
            while not self._pending or self._pending[0][0] > monotonic():
                self._changed.wait(self._pending[0][0] - monotonic() if self._pending else None)
            return heapq.heappop(self._pending)[2]


def call_later(seconds: float, do: Callable[[], object]) -> Timer:
    """Call a short function after this many seconds, in the thread that all timers of the process share.

    A thread for each timer would take longer to start than many a model call.
    """
    timer = Timer(monotonic() + seconds, do)
    with _lock:
        thread = _timer_thread(os.getpid())
    thread.add(timer)
    return timer


@cache
def _timer_thread(process: int) -> _TimerThread:  # noqa: ARG001  # a fork lacks its parent's threads
    return _TimerThread()


@contextmanager
def heartbeat(beat: Callable[[], object], *, every: float, at_end: Callable[[], object]) -> Generator[None]:
    """Call `beat` every so many seconds while the block runs, in another thread, which calls `at_end` before it
    ends.
    """
    done = Event()

    def loop() -> None:
        try:
            while not done.wait(every):
                beat()
        finally:
            at_end()

    thread = Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
