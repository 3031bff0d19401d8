"""A web process computes a few pages at the same time, because its threads share one interpreter."""

import os
from collections import deque
from collections.abc import Callable
from multiprocessing import Lock as ProcessLock
from multiprocessing.sharedctypes import RawArray
from threading import Lock
from time import monotonic
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

_FOR_OPERATORS: Final = ("/health/", "/metrics")


class OpenRequests:
    """How many requests each process of the server computes or lets wait, in memory that they share.

    The processes are forked from the one that creates it, which answers nothing itself. A process that was not forked is the only
    one: it counts nothing.
    """

    def __init__(self, processes: int) -> None:
        self._numbers = RawArray("i", processes)
        self._pids = RawArray("i", processes)
        self._places = ProcessLock()
        self._own: int | None = None
        os.register_at_fork(after_in_child=self.take_place)

    def take_place(self) -> None:
        """Start counting for this process, in a free place or that of one that has ended; without one, it counts nothing."""
        with self._places:
            self._own = next((place for place, pid in enumerate(self._pids) if not _is_running(pid)), None)
            if self._own is not None:
                self._pids[self._own] = os.getpid()
                self._numbers[self._own] = 0

    def count(self, difference: int) -> None:
        """Add to the number of this process. Not for several threads at the same time."""
        if self._own is not None:
            self._numbers[self._own] += difference

    @property
    def excess(self) -> int:
        """How many more this process has than the one with the fewest."""
        return 0 if self._own is None else self._numbers[self._own] - min(self._numbers)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return pid != 0


_OF_THIS_SERVER: Final = OpenRequests(settings.WEB_PROCESSES)


class RequestQueue:
    """Middleware that computes at most `AT_ONCE` answers to GET requests at the same time, in the order of arrival.

    Computing all of them together would finish the first as late as the last. These do not wait for others, or others for them: health
    checks and metrics, a streamed body, a request that has been computed for `long` seconds, and one that has waited for `patience` seconds.

    A connection stays with the process that accepted it, which the kernel chose at random. A process with `UNEVEN` more open requests
    than another one closes the connection, so that the reader's next request may reach the other one.
    """

    AT_ONCE: Final = 2
    UNEVEN: Final = 2

    def __init__(
        self,
        answer: Callable[[HttpRequest], HttpResponseBase],
        patience: float = 2.0,
        long: float = 1.0,
        open_requests: OpenRequests | None = None,
    ) -> None:
        self._answer = answer
        self._open = open_requests or _OF_THIS_SERVER
        self._patience = patience
        self._long = long
        self._guard = Lock()
        self._computing: dict[Any, float] = {}
        self._waiting: deque[Any] = deque()

    @property
    def computing(self) -> int:
        return len(self._computing)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, after those that came before it."""
        if request.method not in {"GET", "HEAD"} or request.path_info.startswith(_FOR_OPERATORS):
            return self._answer(request)
        turn = Lock()
        self._wait_for(turn)
        try:
            response = self._answer(request)
        finally:
            with self._guard:
                self._pass_on(turn)
                is_uneven = self._open.excess >= self.UNEVEN
                self._open.count(-1)
        if is_uneven:
            response["Connection"] = "close"
        return response

    def _wait_for(self, turn: Any) -> None:
        """Return when it is this one's turn, or when it has waited long enough. `threading.Semaphore` lets late ones overtake."""
        with self._guard:
            self._open.count(+1)
            self._pass_on_long_ones()
            if self.computing < self.AT_ONCE:
                self._computing[turn] = monotonic()
                return
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=self._patience):
            return
        with self._guard:
            if turn in self._waiting:
                self._waiting.remove(turn)

    def _pass_on_long_ones(self) -> None:
        until = monotonic() - self._long
        for turn in [turn for turn, since in self._computing.items() if since < until]:
            self._pass_on(turn)

    def _pass_on(self, turn: Any) -> None:
        """Give this turn to the first that waits; nothing if it had none, or has none any more."""
        if self._computing.pop(turn, None) is not None and self._waiting:
            following = self._waiting.popleft()
            self._computing[following] = monotonic()
            following.release()
