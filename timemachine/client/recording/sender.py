"""The two threads of the recorder: one writes recorded actions into the spool, the other delivers the spool.

The caller's thread only appends to a queue. The queue is bounded and the spool is not, so memory does not grow while the server is
unreachable. A caller that records faster than the disk can write waits up to a second. If the disk is full, actions wait in memory up to a
limit. Actions beyond it are lost and counted in the log, in `flush` and `close`, and in the session by the event `recorder.lost`.
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
from timemachine.client.recording.outbox import Mark, Outbox, Written
from timemachine.client.recording.recording import Recording, Shortfall
from timemachine.client.recording.traces import outbox_of
from timemachine.core.pure.json_types import JsonObject

log = logging.getLogger(__name__)

MOST_QUEUED: Final = 50_000
MOST_QUEUED_BYTES: Final = 64 * 1024 * 1024
EXIT_SECONDS: Final = 5.0
_HOLD: Final = 1.0  # seconds that a caller waits for space in the queue
_GATHER: Final = 0.003  # seconds to gather actions before writing them
_TAKEN: Final = 1_000
_LOOK: Final = 0.02
_GIVEN_UP: Final = 0.5  # seconds after which the end of a session does not wait for an unreachable server
_FORK_WAITS: Final = 2.0  # seconds that a fork waits for the first request

_senders: "weakref.WeakSet[Sender]" = weakref.WeakSet()
_held: list[threading.Lock] = []
OURS: Final = threading.local()
"""`OURS.busy` is true while the recorder itself works on a thread, so that this is not recorded."""


class Holder(Protocol):
    """A session with an outbox."""

    def forked(self) -> None:
        """Continue in a forked child process with a new outbox."""


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
        self._queue: deque[tuple[Outbox, bytes | Mark | Written]] = deque()
        self._queued_bytes = 0
        self._lost: dict[Outbox, int] = {}
        self._logged: set[str] = set()
        self.shortfall = Shortfall()
        self._threads: list[threading.Thread] = []
        self._closing = False
        self._exits = False
        self.delivery = self._new_delivery()

    def outbox(self, header: JsonObject, holder: Holder, **options: Any) -> Outbox:
        """An outbox for a session; `options` are those of `Outbox`."""
        _import_here()
        self._holders.add(holder)
        recording = Recording(header, self.folder, self.delivery.spool)
        return outbox_of(recording, shortfall=Shortfall(self.shortfall), **options)

    def open(self, outbox: Outbox) -> None:
        """Start delivering an outbox."""
        self.delivery.add(outbox)
        self._start()

    def put(self, outbox: Outbox, data: bytes | Mark | Written) -> bool:
        """Queue an action or a mark of a session; returns whether there was space."""
        size = len(data) if type(data) is bytes else 0
        taken = self._queued(outbox, data, size) or self._put_late(outbox, data, size)
        if not self._wake.is_set():
            self._wake.set()
        if self._exits:
            self.drain()
        return taken

    def adopt(self) -> None:
        """Adopt the spools of ended processes."""
        _import_here()
        self.delivery.adopt()
        self._start()

    def flush(
        self, timeout: float, *, only: Outbox | None = None, patient: bool = True, once_more: bool = False
    ) -> bool:
        """Wait until everything recorded so far is delivered; returns False if it is not, or if anything was refused or lost.

        If not `patient`, it does not wait for an unreachable server, except for one attempt with `once_more`.
        """
        began = time.monotonic()
        marks = [(outbox, Mark()) for outbox in ([only] if only else self.delivery.outboxes())]
        for outbox, mark in marks:
            self.put(outbox, mark)
        self._start()
        if patient or once_more:
            self.delivery.retry_now()
        until = began + timeout
        tried_from = math.inf if patient else began if once_more else 0.0
        reached = [self._reached(outbox, mark, until, tried_from) for outbox, mark in marks]
        return all(reached) and self._has_arrived(only, until) and not (only or self).shortfall

    def _has_arrived(self, outbox: Outbox | None, until: float) -> bool:
        """Whether what a close released is delivered too; its spool is removed a moment later."""
        while self.delivery.waits(outbox) and not self.delivery.is_closed and time.monotonic() < until:
            time.sleep(_LOOK)
        return not self.delivery.waits(outbox)

    def close(self, timeout: float = EXIT_SECONDS) -> bool:
        """Write everything, deliver for at most `timeout` seconds to a reachable server, and release the spools.

        An unreachable server gets one more attempt.
        """
        self._closing = True
        self.drain()
        done = self.flush(timeout, patient=False, once_more=True)
        with self._drains:  # write what was recorded in the meantime before releasing the spools
            self.drain()
            self.delivery.close()
        self._closing = False
        return done and not self.shortfall

    def exit(self) -> None:
        """Close. From now on, `put` writes immediately, because our threads do not run while the interpreter exits."""
        self._exits = True
        self.close()

    def drain(self) -> None:
        """Write everything in the queue into the spool."""
        with self._drains:
            while items := self._take():
                groups: dict[Outbox, list[bytes | Mark | Written]] = {}
                for outbox, data in items:
                    groups.setdefault(outbox, []).append(data)
                for outbox, group in groups.items():
                    self._write(outbox, group)
            with self._lock:
                lost, self._lost = self._lost, {}
            for outbox, count in lost.items():
                self._record_lost(outbox, count)
        self.delivery.wake()

    def forked(self) -> None:
        """Start from scratch in a forked child: queue and spool belong to the parent."""
        self._abandoned += [self.delivery, self._threads]  # closing its connections would close the parent's
        self._begin()
        for holder in list(self._holders):
            holder.forked()
        if "multiprocessing.util" in sys.modules:  # its children exit without `atexit`
            from multiprocessing import util

            util.register_after_fork(self, lambda sender: util.Finalize(None, sender.close, exitpriority=10))

    def _queued(self, outbox: Outbox, data: bytes | Mark | Written, size: int) -> bool:
        with self._lock:
            full = len(self._queue) >= MOST_QUEUED or self._queued_bytes >= MOST_QUEUED_BYTES
            if full and size:
                return False
            self._queue.append((outbox, data))
            self._queued_bytes += size
            return True

    def _put_late(self, outbox: Outbox, data: bytes | Mark | Written, size: int) -> bool:
        until = time.monotonic() + _HOLD
        while time.monotonic() < until:
            time.sleep(_LOOK)
            if self._queued(outbox, data, size):
                return True
        self._lose(outbox, 1, "actions are recorded faster than they can be written.")
        return False

    def _lose(self, outbox: Outbox, actions: int, why: str) -> None:
        with self._lock:
            self._lost[outbox] = self._lost.get(outbox, 0) + actions
        outbox.shortfall.add(lost=actions, why=why)
        if self._is_first(f"lost {outbox.key}"):
            log.error("Session %s: %s Actions without space are lost and counted.", outbox.key, why)

    def _is_first(self, topic: str) -> bool:
        with self._lock:
            is_first = topic not in self._logged
            self._logged.add(topic)
        return is_first

    def _record_lost(self, outbox: Outbox, count: int) -> None:
        """Record the loss as an event of the session as soon as there is space."""
        try:
            outbox.recording.append([lost_line(count)], anyway=self._closing)
        except OSError:
            with self._lock:
                self._lost[outbox] = self._lost.get(outbox, 0) + count
        else:
            self.delivery.add(outbox)

    def _reached(self, outbox: Outbox, mark: Mark, until: float, tried_from: float) -> bool:
        """Whether the mark is reached in time; gives up early if the server refuses the session, or an attempt after `tried_from` failed."""
        while not mark.reached.wait(min(_LOOK, max(0.0, until - time.monotonic()))):
            is_unreachable = (
                self.delivery.unreachable_for > _GIVEN_UP and self.delivery.tried_at >= tried_from
            )
            if time.monotonic() >= until or is_unreachable or outbox.stuck is not None:
                return mark.reached.is_set()
        return True

    def _take(self) -> list[tuple[Outbox, bytes | Mark | Written]]:
        with self._lock:
            taken = [self._queue.popleft() for _ in range(min(_TAKEN, len(self._queue)))]
            self._queued_bytes -= sum(len(data) for _, data in taken if isinstance(data, bytes))
        return taken

    def _write(self, outbox: Outbox, group: list[bytes | Mark | Written]) -> None:
        lines: list[bytes] = []
        for each in group:
            if isinstance(each, Mark | Written):
                self._append(outbox, lines)
                lines = []
                each.done() if isinstance(each, Written) else outbox.mark(each)
            elif is_end(each):
                self._append(outbox, lines)
                lines = []
                self._append(outbox, [*self._lost_before(outbox), each], anyway=True)
            else:
                lines += self._lines(outbox, each)
        self._append(outbox, lines)

    def _lines(self, outbox: Outbox, data: bytes) -> list[bytes]:
        """The line of an action; none, and a counted loss, if not even its failure can be written."""
        try:
            return [line_of_frozen(data)]
        except Exception as why:  # an action of the application must not stop the recorder
            log.exception("Cannot write an action of session %s.", outbox.key)
            self._lose(outbox, 1, f"an action cannot be written ({why!r}).")
            return []

    def _lost_before(self, outbox: Outbox) -> list[bytes]:
        """The event about lost actions, which must come before the end of the session."""
        with self._lock:
            count = self._lost.pop(outbox, 0)
        return [lost_line(count)] if count else []

    def _append(self, outbox: Outbox, lines: list[bytes], *, anyway: bool = False) -> None:
        """Add lines to the recording of a session; without enough space, as many as fit. The others are lost."""
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
            self.delivery.add(outbox)  # it may have been released in the meantime

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
            log.debug(
                "The interpreter is exiting. Anything recorded now is written when the recorder closes."
            )

    def _writing(self) -> None:
        OURS.busy = True
        while True:
            self._wake.wait()
            time.sleep(_GATHER)
            self._wake.clear()
            try:
                self.drain()
            except Exception:  # the writing thread must not end
                log.exception("The recorder failed to write. It continues with the next actions.")

    def _delivering(self) -> None:
        OURS.busy = True
        self.delivery.work()


def _import_here() -> None:
    """Import slow modules on the thread that begins to record: a child forked while another thread imports them could never import them.

    The openai package fails in a call that it makes while another thread imports httpx.
    """
    import httpcore  # noqa: F401  # httpx imports it with its first client

    import timemachine.client.connection  # noqa: F401  # takes a third of a second

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
