"""Listening to a call that is under way, and ending it, also while the provider is silent or drips: its socket is shut. Pure."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock

from timemachine.core.pure.timers import call_later


class Cancellation:
    """Whether a call shall end, asked by any thread of the one that makes it. Once wanted, always wanted."""

    def __init__(self) -> None:
        self._wanted = Event()
        self._sent = False
        self._lock = Lock()
        self._socket: socket.socket | None = None
        self._attempt: object = None
        self._out_of_time: object = None

    @property
    def out_of_time(self) -> bool:
        """Whether the attempt that is made, or was made last, had no time left."""
        return self._attempt is not None and self._out_of_time is self._attempt

    @property
    def wanted(self) -> bool:
        """Whether somebody asked for it."""
        return self._wanted.is_set()

    @property
    def sent(self) -> bool:
        """Whether any attempt began to send its question before the end was wanted."""
        return self._sent

    def sending(self) -> None:
        """The call sends its question now; where it shall end already, its socket is shut and nothing goes out."""
        with self._lock:
            self._sent = self._sent or not self._wanted.is_set()

    def cancel(self) -> None:
        """End the call: what waits for its connection wakes up at once."""
        with self._lock:
            self._wanted.set()
            self._shut()

    def pause(self, seconds: float) -> None:
        """Wait so long, or until it is wanted."""
        self._wanted.wait(seconds)

    def connected(self, connection: socket.socket) -> None:
        """The call has this connection from now on; where it shall end already, it has none."""
        with self._lock:
            self._socket = connection
            if self._wanted.is_set() or self.out_of_time:
                self._shut()

    @contextmanager
    def watching(self, seconds: float) -> Iterator[None]:
        """While one attempt is made, which ends after so many seconds; after it no socket is shut any more."""
        attempt = object()
        with self._lock:
            self._attempt = attempt
        deadline = call_later(seconds, lambda: self._expire(attempt))
        try:
            yield
        finally:
            deadline.cancel()
            with self._lock:
                self._socket = None

    def _expire(self, attempt: object) -> None:
        with self._lock:
            if attempt is self._attempt:  # or it was over just before, and the next one has its own time
                self._out_of_time = attempt
                self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it is closed already, which is as good
                # not SSLSocket's own shutdown, which takes the encryption from under the reader
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An attempt failed in a way that may pass: why, and after how many seconds which attempt follows (2 is the first repetition)."""

    why: str
    seconds: float
    attempt: int

    @property
    def says(self) -> str:
        """The same as a sentence."""
        soon = "at once" if self.seconds < 1 else f"in {self.seconds:.0f} s"
        return f"{self.why} It is asked again {soon} (attempt {self.attempt})."


def nobody(*_: object) -> None:
    """Hear nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Who reads an answer while it is written (`on_text` gets each piece, `on_wait` each wait), and how the call can be ended.

    `on_over` hears that the call is over, whatever became of it, before anything is made of its answer.
    """

    on_text: Callable[[str], None] = nobody
    on_wait: Callable[[Waiting], None] = nobody
    on_over: Callable[[], None] = nobody
    cancellation: Cancellation = field(default_factory=Cancellation)
