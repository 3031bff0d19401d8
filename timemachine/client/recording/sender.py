"""The recorder's two threads: one writes what is recorded into the spool, the other delivers what is in it.

What the caller's thread does is one append to a queue. The queue is bounded, the spool is not: while a server is away memory does
not grow. Whoever records faster than the disk takes it waits up to a second. Where the disk takes no more, a session goes on in memory, up to a
limit. What finds no room then is counted: the log says so, `flush` and `close`, and the session itself by the event `recorder.lost`.
"""

import atexit
import logging
import math
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

from timemachine.client.recording import spool_database
from timemachine.client.recording.delivery import Delivery
from timemachine.client.recording.lines import is_end, line_of_frozen, lost_line
from timemachine.client.recording.outbox import Mark, Outbox
from timemachine.client.recording.recording import Recording
from timemachine.client.recording.shortfall import Shortfall

log = logging.getLogger(__name__)

MOST_QUEUED: Final = 50_000
MOST_QUEUED_BYTES: Final = 64 * 1024 * 1024
EXIT_SECONDS: Final = 5.0
_HOLD: Final = 1.0  # seconds that a caller waits for a place
_GATHER: Final = 0.003  # seconds between hearing of an action and writing all that came by then
_TAKEN: Final = 1_000
_LOOK: Final = 0.02
_GIVEN_UP: Final = 0.5  # seconds that a server is away before the end of a session does not wait for it
_FORK_WAITS: Final = 2.0  # seconds that a fork waits for the first request

_senders: "weakref.WeakSet[Sender]" = weakref.WeakSet()
_held: list[threading.Lock] = []
OURS: Final = threading.local()
"""`OURS.busy` is true on the recorder's own threads, and while it works on another's: what happens there is not the agent's."""


class Holder(Protocol):
    """A session that has an outbox, and wants one of its own in a child process."""

    def forked(self) -> None:
        """Begin anew."""


class Sender:
    """Queue and delivery of one `TimeMachine`."""

    def __init__(self, delivery: Callable[[], Delivery], folder: Path) -> None:
        self.folder = folder
        self._new_delivery = delivery
        self._holders: weakref.WeakSet[Any] = weakref.WeakSet()
        self._abandoned: list[Any] = []
        self._begin()
        _senders.add(self)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._drains = threading.RLock()
        self._wake = threading.Event()
        self._queue: deque[tuple[Outbox, bytes | Mark]] = deque()
        self._queued_bytes = 0
        self._lost: dict[Outbox, int] = {}
        self._told: set[str] = set()
        self.shortfall = Shortfall()
        self._threads: list[threading.Thread] = []
        self._closing = False
        self._exits = False
        self.delivery = self._new_delivery()

    def outbox(self, header: dict[str, Any], holder: Holder, **options: Any) -> Outbox:
        """An outbox for a session; `options` are those of `Outbox`."""
        self._holders.add(holder)
        recording = Recording(header, self.folder, self.delivery.spool)
        return Outbox(recording, shortfall=Shortfall(self.shortfall), **options)

    def open(self, outbox: Outbox) -> None:
        """Deliver what is recorded into an outbox from now on."""
        _import_here()
        self.delivery.add(outbox)
        self._start()

    def put(self, outbox: Outbox, data: bytes | Mark) -> bool:
        """Queue something of a session; whether there was a place for it."""
        size = len(data) if type(data) is bytes else 0
        taken = self._queued(outbox, data, size) or self._put_late(outbox, data, size)
        if not self._wake.is_set():
            self._wake.set()
        if self._exits:
            self.drain()
        return taken

    def adopt(self) -> None:
        """Deliver the spools of processes that are gone, too."""
        self.delivery.adopt()
        self._start()

    def flush(
        self, timeout: float, *, only: Outbox | None = None, patient: bool = True, once_more: bool = False
    ) -> bool:
        """Wait until all that was recorded so far is delivered; whether it is: not where anything was refused or lost.

        Without patience it does not wait for a server that is away; `once_more` it tries whether it still is.
        """
        began = time.monotonic()
        marks = [(outbox, Mark()) for outbox in ([only] if only else self.delivery.outboxes())]
        for outbox, mark in marks:
            self.put(outbox, mark)
        self._start()
        if patient or once_more:
            self.delivery.nudge()
        until = began + timeout
        tried_from = math.inf if patient else began if once_more else 0.0
        reached = [self._reached(outbox, mark, until, tried_from) for outbox, mark in marks]
        return all(reached) and self._has_arrived(only, until) and not (only or self).shortfall

    def _has_arrived(self, outbox: Outbox | None, until: float) -> bool:
        """Whether what a close let go of has arrived, too; its spool goes a moment later."""
        while self.delivery.waits(outbox) and not self.delivery.is_closed and time.monotonic() < until:
            time.sleep(_LOOK)
        return not self.delivery.waits(outbox)

    def close(self, timeout: float = EXIT_SECONDS) -> bool:
        """Write everything down, deliver for so many seconds what a server takes that is there, and let go of the spools.

        One that was away a moment ago is tried once more.
        """
        self._closing = True
        self.drain()
        done = self.flush(timeout, patient=False, once_more=True)
        with self._drains:  # what came meanwhile stands in the spools before they are let go
            self.drain()
            self.delivery.close()
        self._closing = False
        return done and not self.shortfall

    def exit(self) -> None:
        """Close, and write down at once what is recorded while the interpreter ends: no thread of ours may do so then."""
        self._exits = True
        self.close()

    def drain(self) -> None:
        """Write all that is queued into the spool."""
        with self._drains:
            while items := self._take():
                groups: dict[Outbox, list[bytes | Mark]] = {}
                for outbox, data in items:
                    groups.setdefault(outbox, []).append(data)
                for outbox, group in groups.items():
                    self._write(outbox, group)
            with self._lock:
                lost, self._lost = self._lost, {}
            for outbox, count in lost.items():
                self._record_lost(outbox, count)
        self.delivery.news()

    def forked(self) -> None:
        """Begin anew in a child process: what is queued and spooled is its parent's."""
        self._abandoned += [self.delivery, self._threads]  # to end its connections would end the parent's
        self._begin()
        for holder in list(self._holders):
            holder.forked()
        if "multiprocessing.util" in sys.modules:  # its children end without `atexit`
            from multiprocessing import util

            util.register_after_fork(self, lambda sender: util.Finalize(None, sender.close, exitpriority=10))

    def _queued(self, outbox: Outbox, data: bytes | Mark, size: int) -> bool:
        with self._lock:
            full = len(self._queue) >= MOST_QUEUED or self._queued_bytes >= MOST_QUEUED_BYTES
            if full and size:
                return False
            self._queue.append((outbox, data))
            self._queued_bytes += size
            return True

    def _put_late(self, outbox: Outbox, data: bytes | Mark, size: int) -> bool:
        until = time.monotonic() + _HOLD
        while time.monotonic() < until:
            time.sleep(_LOOK)
            if self._queued(outbox, data, size):
                return True
        self._lose(outbox, 1, "more is recorded than can be written down.")
        return False

    def _lose(self, outbox: Outbox, actions: int, why: str) -> None:
        with self._lock:
            self._lost[outbox] = self._lost.get(outbox, 0) + actions
        outbox.shortfall.add(lost=actions, why=why)
        if self._is_news(f"lost {outbox.key}"):
            log.error("Session %s: %s What finds no place is lost, and counted.", outbox.key, why)

    def _is_news(self, word: str) -> bool:
        with self._lock:
            is_news = word not in self._told
            self._told.add(word)
        return is_news

    def _record_lost(self, outbox: Outbox, count: int) -> None:
        """Have the session itself say what it lost, as soon as there is room for it."""
        try:
            outbox.recording.append([lost_line(count)], anyway=self._closing)
        except OSError:
            with self._lock:
                self._lost[outbox] = self._lost.get(outbox, 0) + count
        else:
            self.delivery.add(outbox)

    def _reached(self, outbox: Outbox, mark: Mark, until: float, tried_from: float) -> bool:
        """Whether it is delivered by then; given up before where the server refuses it, or was away for an attempt after `tried_from`."""
        while not mark.reached.wait(min(_LOOK, max(0.0, until - time.monotonic()))):
            is_away = self.delivery.away_for > _GIVEN_UP and self.delivery.tried_at >= tried_from
            if time.monotonic() >= until or is_away or outbox.stuck is not None:
                return mark.reached.is_set()
        return True

    def _take(self) -> list[tuple[Outbox, bytes | Mark]]:
        with self._lock:
            taken = [self._queue.popleft() for _ in range(min(_TAKEN, len(self._queue)))]
            self._queued_bytes -= sum(len(data) for _, data in taken if isinstance(data, bytes))
        return taken

    def _write(self, outbox: Outbox, group: list[bytes | Mark]) -> None:
        lines: list[bytes] = []
        for each in group:
            if isinstance(each, Mark):
                self._append(outbox, lines)
                lines = []
                outbox.mark(each)
            elif is_end(each):
                self._append(outbox, lines)
                lines = []
                self._append(outbox, [*self._lost_before(outbox), each], anyway=True)
            else:
                lines += self._lines(outbox, each)
        self._append(outbox, lines)

    def _lines(self, outbox: Outbox, data: bytes) -> list[bytes]:
        """An action's line; none where not even its failure can be written, which is counted as a loss."""
        try:
            return [line_of_frozen(data)]
        except Exception as why:
            log.exception("An action of session %s cannot be written.", outbox.key)
            self._lose(outbox, 1, f"an action cannot be written ({why!r}).")
            return []

    def _lost_before(self, outbox: Outbox) -> list[bytes]:
        """What a session says of its losses before its end; after it the server takes nothing."""
        with self._lock:
            count = self._lost.pop(outbox, 0)
        return [lost_line(count)] if count else []

    def _append(self, outbox: Outbox, lines: list[bytes], *, anyway: bool = False) -> None:
        """Add lines to a session's recording; of those for which there is no room, as many as fit, and the others are lost."""
        if not lines:
            return
        try:
            outbox.recording.append(lines, anyway=anyway)
        except OSError as why:
            half = len(lines) // 2
            if half:
                self._append(outbox, lines[:half])
                self._append(outbox, lines[half:])
            else:
                self._lose(outbox, 1, f"{why}.")
        else:
            self.delivery.add(outbox)  # it may have been let go of meanwhile

    def _start(self) -> None:
        if self._threads:
            return
        with self._lock:
            if self._threads:
                return
            self._threads = [
                threading.Thread(target=run, name=f"timemachine-{name}", daemon=True)
                for name, run in (("writer", self._writing), ("delivery", self._delivering))
            ]
        try:
            for each in self._threads:
                each.start()
        except RuntimeError:
            log.debug("The interpreter ends: what is recorded now is written down when it closes.")

    def _writing(self) -> None:
        OURS.busy = True
        while True:
            self._wake.wait()
            time.sleep(_GATHER)
            self._wake.clear()
            try:
                self.drain()
            except Exception:
                log.exception("The recorder could not write down what is recorded; it goes on with the next.")

    def _delivering(self) -> None:
        OURS.busy = True
        self.delivery.work()


def _import_here() -> None:
    """Import what takes long on this thread: a child that is forked while another imports it could never do so itself."""
    import httpcore  # noqa: F401  # httpx imports it when its first client is made

    import timemachine.client.connection  # noqa: F401  # it takes a third of a second

    "localhost".encode("idna")


def _close_all() -> None:
    for sender in list(_senders):
        sender.exit()


def _before_fork() -> None:
    locks = [*(sender.delivery.beginning for sender in list(_senders)), spool_database.lock()]
    _held.extend(lock for lock in locks if lock.acquire(timeout=_FORK_WAITS))


def _after_fork() -> None:
    while _held:
        _held.pop().release()


def _forked() -> None:
    _held.clear()
    spool_database.forked()
    for sender in list(_senders):
        sender.forked()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_forked)
