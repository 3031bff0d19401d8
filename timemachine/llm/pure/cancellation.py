"""Follows a running model call, and cancels it by closing its socket, even while the provider is silent or slow."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock

from timemachine.core.pure.timers import call_later


class Cancellation:
    """Lets any thread cancel the call of another. It cannot be undone."""

    def __init__(self) -> None:
        self._requested = Event()
        self._sent = False
        self._lock = Lock()
        self._socket: socket.socket | None = None
        self._attempt: object = None
        self._out_of_time: object = None

    @property
    def out_of_time(self) -> bool:
        """Whether the current or last attempt ran out of time."""
        return self._attempt is not None and self._out_of_time is self._attempt

    @property
    def requested(self) -> bool:
        return self._requested.is_set()

    @property
    def sent(self) -> bool:
        """Whether any attempt began to send its question before the call was cancelled."""
        return self._sent

    def sending(self) -> None:
        """Note that the call sends its question now. If it was cancelled, its socket is closed and nothing is sent."""
        with self._lock:
            self._sent = self._sent or not self._requested.is_set()

    def cancel(self) -> None:
        """Cancel the call. A thread that waits for its connection wakes up immediately."""
        with self._lock:
            self._requested.set()
            self._shut()

    def pause(self, seconds: float) -> None:
        """Wait this many seconds, or until the call is cancelled."""
        self._requested.wait(seconds)

    def connected(self, connection: socket.socket) -> None:
        """Set the call's connection. If the call has ended, close it."""
        with self._lock:
            self._socket = connection
            if self._requested.is_set() or self.out_of_time:
                self._shut()

    @contextmanager
    def watching(self, seconds: float) -> Iterator[None]:
        """Limit one attempt to this many seconds while the block runs. Afterwards its socket is not closed any more."""
        attempt = object()
        with self._lock:
            self._attempt = attempt
        timer = call_later(seconds, lambda: self._expire(attempt))
        try:
            yield
        finally:
            timer.cancel()
            with self._lock:
                self._socket = None

    def _expire(self, attempt: object) -> None:
        with self._lock:
            if attempt is self._attempt:  # otherwise it has just ended, and the next attempt has its own time
                self._out_of_time = attempt
                self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it is already closed
                # not SSLSocket's own shutdown, which would remove the encryption while another thread reads
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryWait:
    """A wait after a failed attempt: why, for how many seconds, and which attempt follows (2 is the first retry)."""

    why: str
    seconds: float
    attempt: int

    @property
    def message(self) -> str:
        """The same as a sentence."""
        soon = "immediately" if self.seconds < 1 else f"in {self.seconds:.0f} s"
        return f"{self.why} Retrying {soon} (attempt {self.attempt})."


def ignore(*_: object) -> None:
    """Ignore the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Callbacks for a call: `on_text` for each piece of the answer, `on_wait` for each wait, and its cancellation.

    `on_finished` is called when the call has ended, whatever its result, before the answer is used.
    """

    on_text: Callable[[str], None] = ignore
    on_wait: Callable[[RetryWait], None] = ignore
    on_finished: Callable[[], None] = ignore
    cancellation: Cancellation = field(default_factory=Cancellation)
