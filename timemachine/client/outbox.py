"""One session's way to the server: it is started, its actions follow in their order, and it is ended."""

import json
import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from timemachine.client.errors import ClientError, NotUnderstood, Refused, Unreachable
from timemachine.client.retrying import TOO_MANY
from timemachine.client.spool import END, Spool

if TYPE_CHECKING:  # its HTTP client takes a third of a second
    from timemachine.client.connection import Connection

log = logging.getLogger(__name__)

MOST_ACTIONS: Final = 1_000
LARGEST_BATCH: Final = 8 * 1024 * 1024
"""Bytes of actions in one request; a single one may be larger. The server takes 64 MB."""
_UNFIT: Final = frozenset({413, 422})
"""An action that the server can never take: too large, too deep, a word that no field has."""
_AWAY: Final = frozenset({502, 503, 504})
_FAULT: Final = 500
_FAULT_PAUSES: Final = (1.0, 5.0, 15.0, 30.0)
"""Seconds between the attempts with an action at which the server fails; after the last one it is set aside."""
_KEY_TAKEN: Final = "key_taken"
_ENDED: Final = "session_ended"


class Mark:
    """A place in what is recorded that somebody waits for."""

    def __init__(self) -> None:
        self.reached = threading.Event()


class Outbox:
    """What of one session waits. `stuck` says why the server will not take it for now, `refused` counts the actions that it never will.

    `next` is where the session goes on once the spool was let go.
    """

    def __init__(self, spool: Spool, *, adopted: bool = False) -> None:
        self.spool = spool
        self.key = str(spool.header["session"]["key"])
        self.adopted = adopted
        self.closed = adopted
        self.next: Outbox | None = None
        self.stuck: ClientError | None = None
        self.not_before = 0.0  # by the monotonic clock
        self.refused = 0
        self._started = False
        self._said = False
        self._faults = 0
        self._marks: deque[tuple[int, Mark]] = deque()
        self._lock = threading.Lock()

    @property
    def has_work(self) -> bool:
        """Whether anything waits; a session without an action is started, too."""
        return not self.spool.is_closed and (self.spool.settled < self.spool.end or not self._is_begun)

    @property
    def is_over(self) -> bool:
        """Whether nothing waits and nothing more comes."""
        return self.closed and not self.has_work

    def mark(self, mark: Mark) -> None:
        """Have somebody told when everything up to here is settled."""
        with self._lock:
            self._marks.append((self.spool.end, mark))
        self._tell()

    def deliver(self, connection: "Connection") -> None:
        """Deliver the next batch, or what of it comes before an action at which the server fails; that one is due again later.

        Raises `ClientError`; nothing was lost then, and some of it may have arrived.
        """
        if not self._started:
            self._start(connection)
        lines = self.spool.waiting(LARGEST_BATCH)
        if lines:
            if lines[0] == END:
                connection.post(f"{self._path}/end")
                self._settle(lines[:1])
            else:
                actions = lines[: lines.index(END)] if END in lines else lines
                self._try(connection, actions[: 1 if self._faults else MOST_ACTIONS])
        self.stuck = None
        self._tell()

    def complain(self, why: ClientError) -> None:
        """Say once that the server does not take it; what is spooled stays."""
        if not self._said:
            self._said = True
            log.error(
                "Session %s is not delivered: %s What is recorded stays in %s.",
                self.key,
                why.message,
                self.spool.path or "memory",
            )
        self.stuck = why  # last: who waits for the delivery goes on then

    @property
    def _is_begun(self) -> bool:
        """Whether the server has the session; that of a process which is gone is of use only with what it recorded."""
        return self._started or self.adopted

    @property
    def _path(self) -> str:
        return f"/api/sessions/{quote(self.key, safe='')}"

    def _start(self, connection: "Connection") -> None:
        try:
            connection.post("/api/sessions", self.spool.header["session"])
        except Refused as why:
            if why.code != _KEY_TAKEN:
                raise
        self._started = True

    def _try(self, connection: "Connection", lines: list[bytes]) -> None:
        try:
            self._send(connection, lines)
        except Refused as why:
            if why.status != _FAULT:
                raise
            self.not_before = time.monotonic() + _FAULT_PAUSES[self._faults]
            self._faults += 1

    def _send(self, connection: "Connection", lines: list[bytes]) -> None:
        """Send lines together; where the server cannot take one of them, in halves, until it stands alone and is set aside."""
        body = b'{"actions":[' + b",".join(lines) + b"]}"
        try:
            connection.call("POST", f"{self._path}/actions", content=body, content_type="application/json")
        except Refused as why:
            if why.code == _ENDED:
                self._set_aside(lines, why)
                return
            is_fault = why.status == _FAULT
            if not is_fault and why.status not in _UNFIT:
                raise
            if len(lines) > 1:
                half = len(lines) // 2
                self._send(connection, lines[:half])
                self._send(connection, lines[half:])
                return
            if is_fault and self._faults < len(_FAULT_PAUSES):
                raise
            self._set_aside(lines, why)
            return
        self._faults = 0
        self._settle(lines)

    def _set_aside(self, lines: list[bytes], why: Refused) -> None:
        self.refused += len(lines)
        for line in lines:
            self.spool.set_aside(line, why.message)
        if why.code != _ENDED or not self._said:
            log.error(
                "%d of the actions of session %s cannot be recorded and are set aside: %s",
                len(lines),
                self.key,
                why.message,
            )
        self._said = self._said or why.code == _ENDED
        self._faults = 0
        self._settle(lines)

    def _settle(self, lines: list[bytes]) -> None:
        self.spool.settle(sum(len(line) + 1 for line in lines))

    def _tell(self) -> None:
        with self._lock:
            while self._marks and self._marks[0][0] <= self.spool.settled and self._is_begun:
                self._marks.popleft()[1].reached.set()


def is_passing(why: ClientError) -> bool:
    """Whether it may be otherwise in a moment: nobody answers, or has too much to do."""
    if isinstance(why, Refused):
        return is_busy(why) or why.status in _AWAY
    return isinstance(why, Unreachable | NotUnderstood)


def is_busy(why: ClientError) -> bool:
    """Whether the server is there, and asks to come again in a moment."""
    return isinstance(why, Refused) and why.status == TOO_MANY


def header_of(session: dict[str, Any], *, url: str | None, key_id: str | None) -> dict[str, Any]:
    """What a spool says of itself; `session` is the body of the request that starts it."""
    return {"spool": 1, "url": url, "key_id": key_id, "session": session}


def line_of(action: dict[str, Any]) -> bytes:
    """An action as its line."""
    return json.dumps(action, separators=(",", ":"), allow_nan=False).encode()
