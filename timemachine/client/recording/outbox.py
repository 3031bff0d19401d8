"""The delivery of one session: start it on the server, send its actions in order, and end it."""

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from timemachine.client.errors import ClientError, NotUnderstood, Refused, Unreachable
from timemachine.client.recording.fitting import refitted
from timemachine.client.recording.lines import ended_at, is_end, refused_line
from timemachine.client.recording.recording import Recording, Shortfall
from timemachine.client.recording.spool import Row
from timemachine.client.recording.spool_database import Damaged
from timemachine.client.waiting import TOO_MANY
from timemachine.core.pure.json_types import JsonObject

if TYPE_CHECKING:  # importing httpx takes a third of a second
    from timemachine.client.connection import Connection

log = logging.getLogger(__name__)

MOST_ACTIONS: Final = 1_000
LARGEST_BATCH: Final = 8 * 1024 * 1024
"""Bytes of actions in one request; a single one may be larger. The server takes 64 MB."""
_UNPROCESSABLE: Final = 422
_UNFIT: Final = frozenset({413, _UNPROCESSABLE})
"""The server can never accept this action: too large, too deep, or an invalid field."""
_AWAY: Final = frozenset({502, 503, 504})
_FAULT: Final = 500
_FAULT_PAUSES: Final = (1.0, 5.0, 15.0, 30.0)
"""Seconds between attempts with an action that makes the server fail; after the last one it counts as refused."""
_KEY_TAKEN: Final = "key_taken"
_ENDED: Final = "session_ended"
_OPEN: Final = "open"
_NOT_THERE: Final = 404


class Mark:
    """A position in a recording that `flush` waits for."""

    def __init__(self) -> None:
        self.reached = threading.Event()


class Written:
    """A position in a recording at which a function is called, on the writing thread, as soon as all before it is written."""

    def __init__(self, done: Callable[[], None]) -> None:
        self.done = done


class Outbox:
    """The undelivered part of one session. `stuck` is the reason why the server refuses it for now.

    `key` is the key of the session on the server. If a session with this key had already ended, a new key is used, unless `strict`; if it
    ends in the meantime, later actions are refused. `begun` says whether the session exists on the server, `adopted` whether a process
    recorded it that has ended, and `listed` whether it is being delivered (not after a close).
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
        """Whether there is anything to deliver; a session without actions is started too."""
        return self.recording.has_waiting or not self._is_begun

    @property
    def is_finished(self) -> bool:
        """Whether everything is delivered and nothing more can follow."""
        return self.closed and not self.has_work

    def mark(self, mark: Mark) -> None:
        """Set the mark when everything up to here is delivered or refused."""
        with self._lock:
            self._marks.append((self.recording.end, mark))
        self._reach_marks()

    def deliver(self, connection: "Connection", *, may_end: Callable[[], bool] = lambda: True) -> None:
        """Deliver the next batch, up to an action that makes the server fail; that one is retried later.

        `may_end` says whether the session may be ended now. Raises `ClientError`; nothing is lost, and a part may have been delivered.
        """
        if not self._started:
            self._start(connection)
        rows = self._next()
        if rows and is_end(rows[0][1]):
            self._check_end(may_end)
            self._end(connection, ended_at(rows[0][1]))
            self.recording.settle(rows[0][0])
        elif rows:
            actions = [*takewhile(lambda row: not is_end(row[1]), rows)]
            self._try(connection, actions[: 1 if self._faults else MOST_ACTIONS])
        if self.stuck is not None:
            self.recording.note(None)
        self.stuck = None
        self._reach_marks()

    def complain(self, why: ClientError) -> None:
        """Log once why the server does not accept it; it stays in the spool."""
        if not self._complained:
            self._complained = True
            log.error(
                "Session %s is not delivered: %s The recording stays in %s.",
                self.key,
                why.message,
                self.recording.folder,
            )
        self.recording.note(f"{why.message} ({why.code})" if isinstance(why, Refused) else why.message)
        self.stuck = why  # last, because it wakes up `flush`

    def refuse_late(self, line: bytes, why: str) -> None:
        """Store an action that was recorded after the end of the session as refused."""
        is_stored = self.recording.add_refused(line, why)
        self.shortfall.add(refused=int(is_stored), lost=int(not is_stored), why=why)

    def release(self) -> tuple[Path, int] | None:
        """Release the spool and return where the rest waits for the next process. What is in memory and cannot be written is lost."""
        lost, rest = self.recording.release()
        if lost:
            self._lose(lost, "the spool cannot be written.")
        self._started = False
        with self._lock:
            self._marks.clear()
        return rest

    def _lose(self, lost: int, why: str) -> None:
        self.shortfall.add(lost=lost, why=why)
        log.error("%d actions of session %s are lost: %s", lost, self.key, why)

    def _next(self) -> list[Row]:
        """The next lines; if the spool is damaged, those in memory."""
        try:
            return self.recording.waiting(most=MOST_ACTIONS, most_bytes=LARGEST_BATCH)
        except Damaged as why:
            self._lose(self.recording.give_up(), f"the spool is damaged ({why}).")
            return []

    @property
    def _is_begun(self) -> bool:
        """Whether the session exists on the server. An adopted one is started only if it has actions."""
        return self.begun or self.adopted

    @property
    def _path(self) -> str:
        return f"/api/sessions/{quote(self.key, safe='')}"

    def _end(self, connection: "Connection", at: str | None) -> None:
        """End the session at the time it ended here; now if another machine's clock makes that earlier than its start."""
        try:
            connection.post(f"{self._path}/end", None if at is None else {"ended_at": at})
        except Refused as why:
            if at is None or why.status != _UNPROCESSABLE:
                raise
            connection.post(f"{self._path}/end")

    def _begin(self, connection: "Connection", session: JsonObject) -> None:
        """Start a session on the server; without `started_at` if the server is too old for it."""
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
            if self.adopted:  # the process that recorded it started it
                self._follow(connection)
            elif not self.strict and self._state(connection, self.key) == _ENDED:
                if self.begun:
                    self._follow(connection)
                else:
                    self._start_other(connection)
        self._started = self.begun = True

    def _start_other(self, connection: "Connection") -> None:
        """Start a session with another key: the requested one had ended before anything was recorded here."""
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
            "Session %s has ended. Recording continues in a new session, %s.",
            self.key,
            self._other_key,
        )
        self.key = self._other_key

    def _follow(self, connection: "Connection") -> None:
        """Use the other key if another recording of the session does."""
        if self._state(connection, self._other_key) is not None:
            self.key = self._other_key

    @property
    def _session(self) -> JsonObject:
        """The body of the request that starts the session."""
        session: JsonObject = self.recording.header["session"]
        return session

    @property
    def _other_key(self) -> str:
        """The key that replaces that of an ended session. It is the same in all recordings of the session, so that an adopting process finds it."""
        return f"{self._session['key'][:191]}-{self.recording.header['suffix']}"

    def _state(self, connection: "Connection", key: str) -> str | None:
        """Whether a session is open or has ended, or None if the server does not have it; a key with the scope `record` is enough."""
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
        """Retry now if the end of the session waits for disk space."""
        if self._awaits_room:
            self.stuck, self.not_before = None, 0.0

    def _check_end(self, may_end: Callable[[], bool]) -> None:
        """Raise `ClientError` while any of the session is still to be sent or retried, because an ended session accepts nothing."""
        self._awaits_room = not self.recording.save_refusals()
        if self._awaits_room:
            raise ClientError(
                f"No space in {self.recording.folder} for what the server refused. Free up space and send it again."
            )
        if not may_end():
            raise ClientError(f"Earlier actions of the session still wait in {self.recording.folder}.")

    def _try(self, connection: "Connection", rows: list[Row]) -> None:
        try:
            self._send(connection, rows)
        except Refused as why:
            if why.status != _FAULT:
                raise
            self.not_before = time.monotonic() + _FAULT_PAUSES[self._faults]
            self._faults += 1

    def _send(self, connection: "Connection", rows: list[Row], form: list[bytes] | None = None) -> None:
        """Send lines in one request, in another `form` if the server refused theirs.

        If the server cannot accept one of them, the request is split in halves until this one is alone and refused.
        """
        form = [line for _, line in rows] if form is None else form
        try:
            answer = self._post(connection, form)
        except Refused as why:
            if why.code == _ENDED:
                self._refuse_rows(rows, why)
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
                self._record_refusal(connection, rows[0][1], why)
            self._refuse_rows(rows, why)
            return
        self._faults = 0
        self._refuse_differing([rows[at] for at in answer.get("differing", ())])
        self.recording.settle(rows[-1][0])

    def _post(self, connection: "Connection", lines: list[bytes]) -> JsonObject:
        body = b'{"actions":[' + b",".join(lines) + b"]}"
        path = f"{self._path}/actions"
        answer: JsonObject = connection.call("POST", path, content=body, content_type="application/json")
        return answer

    def _record_refusal(self, connection: "Connection", line: bytes, why: Refused) -> None:
        """Record an event in the session in place of a refused action; repeating it is safe. If this is refused too, only the spool has it."""
        try:
            self._post(connection, [refused_line(line, why.message)])
        except Refused as refused:
            if is_temporary(refused):
                raise
            log.warning("Session %s has no event for a refused action: %s", self.key, refused.message)

    def _refuse_differing(self, rows: list[Row]) -> None:
        """Refuse actions whose id another action on the server already has."""
        if rows:
            why = "The session already has another action with this id. Use a unique id for each action."
            self._refuse(rows, why)
            log.error("%d actions of session %s were refused: %s", len(rows), self.key, why)

    def _refuse(self, rows: list[Row], why: str) -> None:
        stored = sum(self.recording.refuse(row, why) for row in rows)
        self.shortfall.add(refused=stored, lost=len(rows) - stored, why=why)

    def _refuse_rows(self, rows: list[Row], why: Refused) -> None:
        self._refuse(rows, why.message)
        if why.code != _ENDED or not self._complained:
            log.error(
                "%d actions of session %s were refused: %s",
                len(rows),
                self.key,
                why.message,
            )
        self._complained = self._complained or why.code == _ENDED
        self._faults = 0
        self.recording.settle(rows[-1][0])

    def _reach_marks(self) -> None:
        with self._lock:
            while self._marks and self._marks[0][0] <= self.recording.settled and self._is_begun:
                self._marks.popleft()[1].reached.set()


def is_temporary(why: ClientError) -> bool:
    """Whether the failure can be temporary: the server is unreachable or busy."""
    if isinstance(why, Refused):
        return is_busy(why) or why.status in _AWAY
    return isinstance(why, Unreachable | NotUnderstood)


def is_busy(why: ClientError) -> bool:
    """Whether the server is busy and asks to retry."""
    return isinstance(why, Refused) and why.status == TOO_MANY


def header_of(session: JsonObject, *, url: str | None, key_id: str | None) -> JsonObject:
    """The header of a recording. `session` is the body of the request that starts it; `suffix` is added to its key if an ended session has it."""
    return {"url": url, "key_id": key_id, "suffix": secrets.token_hex(4), "session": session}
