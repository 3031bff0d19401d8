"""One session's way to the server: it is started, its actions follow in their order, and it is ended."""

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from timemachine.client.errors import ClientError, NotUnderstood, Refused, Unreachable
from timemachine.client.recording.fitting import refitted
from timemachine.client.recording.lines import ended_at, is_end, refused_line
from timemachine.client.recording.recording import Recording
from timemachine.client.recording.shortfall import Shortfall
from timemachine.client.recording.spool import Row
from timemachine.client.recording.spool_database import Damaged
from timemachine.client.retries import TOO_MANY

if TYPE_CHECKING:  # its HTTP client takes a third of a second
    from timemachine.client.connection import Connection

log = logging.getLogger(__name__)

MOST_ACTIONS: Final = 1_000
LARGEST_BATCH: Final = 8 * 1024 * 1024
"""Bytes of actions in one request; a single one may be larger. The server takes 64 MB."""
_UNPROCESSABLE: Final = 422
_UNFIT: Final = frozenset({413, _UNPROCESSABLE})
"""An action that the server can never take: too large, too deep, a word that no field has."""
_AWAY: Final = frozenset({502, 503, 504})
_FAULT: Final = 500
_FAULT_PAUSES: Final = (1.0, 5.0, 15.0, 30.0)
"""Seconds between the attempts with an action at which the server fails; after the last one it is set aside."""
_KEY_TAKEN: Final = "key_taken"
_ENDED: Final = "session_ended"
_OPEN: Final = "open"
_NOT_THERE: Final = 404


class Mark:
    """A place in what is recorded that somebody waits for."""

    def __init__(self) -> None:
        self.reached = threading.Event()


class Outbox:
    """What of one session waits here. `stuck` says why the server will not take it for now.

    `key` is what the session is called on the server. A session whose key is that of one which had ended before goes on under another key,
    unless it is `strict`; what is recorded into one that ends meanwhile is set aside. `begun` says whether the server has it. One that is
    `adopted` was recorded by a process that has ended. `listed` is whether it is delivered now; after a close it is not.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        shortfall: Shortfall,
        key: str | None = None,
        strict: bool = False,
        begun: bool = False,
        adopted: bool = False,
    ) -> None:
        self.recording = recording
        self.shortfall = shortfall
        self.key: str = key or recording.header["session"]["key"]
        self.strict = strict
        self.begun = begun
        self.adopted = adopted
        self.closed = adopted
        self.listed = False
        self.stuck: ClientError | None = None
        self.not_before = 0.0  # by the monotonic clock
        self._started = False
        self._complained = False
        self._awaits_room = False
        self._faults = 0
        self._marks: deque[tuple[int, Mark]] = deque()
        self._lock = threading.Lock()

    @property
    def has_work(self) -> bool:
        """Whether anything waits; a session without an action is started, too."""
        return self.recording.has_waiting or not self._is_begun

    @property
    def is_over(self) -> bool:
        """Whether nothing waits and nothing more comes."""
        return self.closed and not self.has_work

    def mark(self, mark: Mark) -> None:
        """Have somebody informed when everything up to here is settled."""
        with self._lock:
            self._marks.append((self.recording.end, mark))
        self._reach_marks()

    def deliver(self, connection: "Connection", *, may_end: Callable[[], bool] = lambda: True) -> None:
        """Deliver the next batch, or what of it comes before an action at which the server fails; that one is due again later.

        `may_end` says whether the session may be ended when its end is next. Raises `ClientError`; nothing was lost then, and some of it may have arrived.
        """
        if not self._started:
            self._start(connection)
        rows = self._next()
        if rows and is_end(rows[0][1]):
            self._check_end(may_end)
            self._end(connection, ended_at(rows[0][1]))
            self._settle(rows[:1])
        elif rows:
            actions = [*takewhile(lambda row: not is_end(row[1]), rows)]
            self._try(connection, actions[: 1 if self._faults else MOST_ACTIONS])
        if self.stuck is not None:
            self.recording.note(None)
        self.stuck = None
        self._reach_marks()

    def complain(self, why: ClientError) -> None:
        """Log once that the server does not take it; what is spooled stays."""
        if not self._complained:
            self._complained = True
            log.error(
                "Session %s is not delivered: %s What is recorded stays in %s.",
                self.key,
                why.message,
                self.recording.folder,
            )
        self.recording.note(f"{why.message} ({why.code})" if isinstance(why, Refused) else why.message)
        self.stuck = why  # last: who waits for the delivery goes on then

    def refuse_late(self, line: bytes, why: str) -> None:
        """Set aside what comes after the end of its session."""
        is_kept = self.recording.add_refused(line, why)
        self.shortfall.add(refused=int(is_kept), lost=int(not is_kept), why=why)

    def release(self) -> tuple[Path, int] | None:
        """Let go of the spool; where what waits is for the next process. What is in memory and finds no room there even now is lost."""
        lost, rest = self.recording.release()
        if lost:
            self._lose(lost, "no spool can be written.")
        self._started = False
        with self._lock:
            self._marks.clear()
        return rest

    def _lose(self, lost: int, why: str) -> None:
        self.shortfall.add(lost=lost, why=why)
        log.error("%d actions of session %s are lost: %s", lost, self.key, why)

    def _next(self) -> list[Row]:
        """The next lines; where they cannot be read because the spool is damaged, those in memory."""
        try:
            return self.recording.waiting(most=MOST_ACTIONS, most_bytes=LARGEST_BATCH)
        except Damaged as why:
            self._lose(self.recording.give_up(), f"the spool is damaged ({why}).")
            return []

    @property
    def _is_begun(self) -> bool:
        """Whether the server has the session; that of a process which has ended is of use only with what it recorded."""
        return self.begun or self.adopted

    @property
    def _path(self) -> str:
        return f"/api/sessions/{quote(self.key, safe='')}"

    def _end(self, connection: "Connection", at: str | None) -> None:
        """End the session when it ended here; at once where that is before it began by the clock of another machine."""
        try:
            connection.post(f"{self._path}/end", None if at is None else {"ended_at": at})
        except Refused as why:
            if at is None or why.status != _UNPROCESSABLE:
                raise
            connection.post(f"{self._path}/end")

    def _begin(self, connection: "Connection", session: dict[str, Any]) -> None:
        """Have the server begin a session; without the moment where it is older than that field."""
        try:
            connection.post("/api/sessions", session)
        except Refused as why:
            if "started_at" not in session or why.status != _UNPROCESSABLE:
                raise
            connection.post(
                "/api/sessions", {name: session[name] for name in session if name != "started_at"}
            )

    def _start(self, connection: "Connection") -> None:
        try:
            self._begin(connection, self._session | {"key": self.key})
        except Refused as why:
            if why.code != _KEY_TAKEN:
                raise
            if self.adopted:  # the process that recorded it began it
                self._follow(connection)
            elif not self.strict and self._state(connection, self.key) == _ENDED:
                if self.begun:
                    self._follow(connection)
                else:
                    self._go_on(connection)
        self._started = self.begun = True

    def _go_on(self, connection: "Connection") -> None:
        """Begin a session of another key: the one that was named had ended before anything was recorded here."""
        other = {
            **self._session,
            "key": self._other_key,
            "metadata": {**self._session.get("metadata", {}), "asked_key": self.key},
        }
        try:
            self._begin(connection, other)
        except Refused as why:
            if why.code != _KEY_TAKEN:
                raise
        log.warning(
            "The session %s has ended; what is recorded now stands in a new one, %s.",
            self.key,
            self._other_key,
        )
        self.key = self._other_key

    def _follow(self, connection: "Connection") -> None:
        """Go on where another recording of the session did."""
        if self._state(connection, self._other_key) is not None:
            self.key = self._other_key

    @property
    def _session(self) -> dict[str, Any]:
        """The body of the request that starts it."""
        session: dict[str, Any] = self.recording.header["session"]
        return session

    @property
    def _other_key(self) -> str:
        """The key of a session that goes on from one that has ended: the same in all its recordings, so that whoever takes one over finds it."""
        return f"{self._session['key'][:191]}-{self.recording.header['suffix']}"

    def _state(self, connection: "Connection", key: str) -> str | None:
        """Whether a session is open or has ended, as a key that may only record can ask; None where there is none."""
        try:
            connection.post(f"/api/sessions/{quote(key, safe='')}/actions", {"actions": []})
        except Refused as why:
            if why.status == _NOT_THERE:
                return None
            if why.code != _ENDED:
                raise
            return _ENDED
        return _OPEN

    def try_again(self) -> None:
        """Look at once whether there is room now for what was refused, where the end of the session waits for that."""
        if self._awaits_room:
            self.stuck, self.not_before = None, 0.0

    def _check_end(self, may_end: Callable[[], bool]) -> None:
        """A session that has ended takes nothing more: raise `ClientError` while any of it is still to be sent, or sent again."""
        self._awaits_room = not self.recording.save_refusals()
        if self._awaits_room:
            raise ClientError(
                f"What the server refused finds no room in {self.recording.folder}: make some, and send it again."
            )
        if not may_end():
            raise ClientError(
                f"What was recorded before the end of the session still waits in {self.recording.folder}."
            )

    def _try(self, connection: "Connection", rows: list[Row]) -> None:
        try:
            self._send(connection, rows)
        except Refused as why:
            if why.status != _FAULT:
                raise
            self.not_before = time.monotonic() + _FAULT_PAUSES[self._faults]
            self._faults += 1

    def _send(self, connection: "Connection", rows: list[Row], form: list[bytes] | None = None) -> None:
        """Send lines together, in a `form` that the server takes where it refused theirs; where it cannot take one of them, in halves,

        until it stands alone and is set aside.
        """
        form = [line for _, line in rows] if form is None else form
        body = b'{"actions":[' + b",".join(form) + b"]}"
        try:
            answer = connection.call(
                "POST", f"{self._path}/actions", content=body, content_type="application/json"
            )
        except Refused as why:
            if why.code == _ENDED:
                self._set_aside(rows, why)
                return
            is_fault = why.status == _FAULT
            if not is_fault and why.status not in _UNFIT:
                raise
            other = None if is_fault else refitted(form, why)
            if other is not None:
                self._send(connection, rows, other)
                return
            if len(rows) > 1:
                half = len(rows) // 2
                self._send(connection, rows[:half], form[:half])
                self._send(connection, rows[half:], form[half:])
                return
            if is_fault and self._faults < len(_FAULT_PAUSES):
                raise
            if not is_fault:
                self._tell_refused(connection, rows[0][1], why)
            self._set_aside(rows, why)
            return
        self._faults = 0
        self._keep_others([rows[at] for at in answer.get("differing", ())])
        self._settle(rows)

    def _tell_refused(self, connection: "Connection", line: bytes, why: Refused) -> None:
        """Have the session say in its place what is missing; sent again it is the same event. Where that is refused, too, only the file knows."""
        body = b'{"actions":[' + refused_line(line, why.message) + b"]}"
        try:
            connection.call("POST", f"{self._path}/actions", content=body, content_type="application/json")
        except Refused as refused:
            if is_passing(refused):
                raise
            log.warning("Session %s does not say what is missing: %s", self.key, refused.message)

    def _keep_others(self, rows: list[Row]) -> None:
        """Set aside what came under the id of another action: the server has that one, and says so."""
        if rows:
            why = "The session has another action of this id, which stays; give each action an id of its own."
            self._refuse(rows, why)
            log.error("%d of the actions of session %s are set aside: %s", len(rows), self.key, why)

    def _refuse(self, rows: list[Row], why: str) -> None:
        kept = sum(self.recording.refuse(row, why) for row in rows)
        self.shortfall.add(refused=kept, lost=len(rows) - kept, why=why)

    def _set_aside(self, rows: list[Row], why: Refused) -> None:
        self._refuse(rows, why.message)
        if why.code != _ENDED or not self._complained:
            log.error(
                "%d of the actions of session %s cannot be recorded and are set aside: %s",
                len(rows),
                self.key,
                why.message,
            )
        self._complained = self._complained or why.code == _ENDED
        self._faults = 0
        self._settle(rows)

    def _settle(self, rows: list[Row]) -> None:
        self.recording.settle(rows[-1][0])

    def _reach_marks(self) -> None:
        with self._lock:
            while self._marks and self._marks[0][0] <= self.recording.settled and self._is_begun:
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
    """What a recording says of itself; `session` is the body of the request that starts it, and `suffix` ends its key if that is another's."""
    return {"url": url, "key_id": key_id, "suffix": secrets.token_hex(4), "session": session}
