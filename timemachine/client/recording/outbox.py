"""One session's way to the server: it is started, its actions follow in their order, and it is ended."""

import logging
import secrets
import threading
import time
from collections import deque
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from timemachine.client.errors import ClientError, NotUnderstood, Refused, Unreachable
from timemachine.client.recording.fitting import refitted
from timemachine.client.recording.lines import ended_at, is_end, refused_line
from timemachine.client.recording.outcome import Course
from timemachine.client.recording.spool import Spool
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
    """What of one session waits. `stuck` says why the server will not take it for now.

    `next` is where the session goes on once the spool was let go, or takes no more. A session whose key is that of one which had ended
    before goes on under another key, unless it is strict; what is recorded into one that ends meanwhile is set aside.
    """

    def __init__(self, spool: Spool, course: Course, *, adopted: bool = False) -> None:
        self.spool = spool
        self.course = course
        course.spools.append(spool)
        self.adopted = adopted
        self.closed = adopted
        self.next: Outbox | None = None
        self.stuck: ClientError | None = None
        self.not_before = 0.0  # by the monotonic clock
        self._started = False
        self._said = False
        self._awaits_place = False
        self._faults = 0
        self._marks: deque[tuple[int, Mark]] = deque()
        self._lock = threading.Lock()

    @property
    def key(self) -> str:
        """What the session is called on the server."""
        return self.course.key

    @property
    def last(self) -> "Outbox":
        """The one in which the session stands now."""
        return self if self.next is None else self.next.last

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
            if is_end(lines[0]):
                self._demand_nothing_held()
                self._end(connection, ended_at(lines[0]))
                self._settle(lines[:1])
            else:
                actions = [*takewhile(lambda line: not is_end(line), lines)]
                self._try(connection, actions[: 1 if self._faults else MOST_ACTIONS])
        if self.stuck is not None:
            self.spool.note(None)
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
        self.spool.note(f"{why.message} ({why.code})" if isinstance(why, Refused) else why.message)
        self.stuck = why  # last: who waits for the delivery goes on then

    @property
    def _is_begun(self) -> bool:
        """Whether the server has the session; that of a process which is gone is of use only with what it recorded."""
        return self._started or self.adopted

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
            self._begin(connection, self.spool.header["session"] | {"key": self.key})
        except Refused as why:
            if why.code != _KEY_TAKEN:
                raise
            if self.adopted:  # a process that is gone began it
                self._follow(connection)
            elif not self.course.strict and self._state(connection, self.key) == _ENDED:
                if self.course.begun:
                    self._follow(connection)
                else:
                    self._go_on(connection)
        self._started = self.course.begun = True

    def _go_on(self, connection: "Connection") -> None:
        """Begin a session of another key: the one that was named had ended before anything was recorded here."""
        session = self.spool.header["session"]
        other = {
            **session,
            "key": self._other_key,
            "metadata": {**session.get("metadata", {}), "asked_key": self.key},
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
        self.course.key = self._other_key

    def _follow(self, connection: "Connection") -> None:
        """Go on where another spool of the session did."""
        if self._state(connection, self._other_key) is not None:
            self.course.key = self._other_key

    @property
    def _other_key(self) -> str:
        """The key of a session that goes on from one that has ended: the same in all its spools, so that whoever takes one over finds it."""
        return f"{self.spool.header['session']['key'][:191]}-{suffix_of(self.spool)}"

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
        """Look at once whether there is a place now for what was refused, where the end of the session waits for that."""
        if self._awaits_place:
            self.stuck, self.not_before = None, 0.0

    def _demand_nothing_held(self) -> None:
        """A session that has ended takes nothing more: it stays open for as long as any of its files has what is to be sent again."""
        others = [each for each in self.course.spools if each is not self.spool and each.has_rest]
        self.course.spools = [*others, self.spool]
        held = others if self.spool.put_aside() else [self.spool]
        self._awaits_place = any(each.is_held for each in held)
        if self._awaits_place:
            raise ClientError(
                f"What the server refused finds no place beside {held[0].path}, which stays: make some room, and send it again."
            )
        if held:
            raise ClientError(
                f"What was recorded before the end of the session waits still in {held[0].path}."
            )

    def _try(self, connection: "Connection", lines: list[bytes]) -> None:
        try:
            self._send(connection, lines)
        except Refused as why:
            if why.status != _FAULT:
                raise
            self.not_before = time.monotonic() + _FAULT_PAUSES[self._faults]
            self._faults += 1

    def _send(self, connection: "Connection", lines: list[bytes], form: list[bytes] | None = None) -> None:
        """Send lines together, in a `form` that the server takes where it refused theirs; where it cannot take one of them, in halves,

        until it stands alone and is set aside.
        """
        form = lines if form is None else form
        body = b'{"actions":[' + b",".join(form) + b"]}"
        try:
            answer = connection.call(
                "POST", f"{self._path}/actions", content=body, content_type="application/json"
            )
        except Refused as why:
            if why.code == _ENDED:
                self._set_aside(lines, why)
                return
            is_fault = why.status == _FAULT
            if not is_fault and why.status not in _UNFIT:
                raise
            other = None if is_fault else refitted(form, why)
            if other is not None:
                self._send(connection, lines, other)
                return
            if len(lines) > 1:
                half = len(lines) // 2
                self._send(connection, lines[:half], form[:half])
                self._send(connection, lines[half:], form[half:])
                return
            if is_fault and self._faults < len(_FAULT_PAUSES):
                raise
            if not is_fault:
                self._tell_refused(connection, lines[0], why)
            self._set_aside(lines, why)
            return
        self._faults = 0
        self._keep_others([lines[place] for place in answer.get("differing", ())])
        self._settle(lines)

    def _tell_refused(self, connection: "Connection", line: bytes, why: Refused) -> None:
        """Have the session say in its place what is missing; sent again it is the same event. Where that is refused, too, only the file knows."""
        body = b'{"actions":[' + refused_line(line, why.message) + b"]}"
        try:
            connection.call("POST", f"{self._path}/actions", content=body, content_type="application/json")
        except Refused as refused:
            if is_passing(refused):
                raise
            log.warning("Session %s does not say what is missing: %s", self.key, refused.message)

    def _keep_others(self, lines: list[bytes]) -> None:
        """Set aside what came under the id of another action: the server has that one, and says so."""
        if lines:
            why = "The session has another action of this id, which stays; give each action an id of its own."
            self._keep_aside(lines, why)
            log.error("%d of the actions of session %s are set aside: %s", len(lines), self.key, why)

    def _keep_aside(self, lines: list[bytes], why: str) -> None:
        kept = sum(self.spool.set_aside(line, why) for line in lines)
        self.course.shortfall.add(refused=kept, lost=len(lines) - kept, why=why)

    def _set_aside(self, lines: list[bytes], why: Refused) -> None:
        self._keep_aside(lines, why.message)
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

    def keep(self, folder: Path) -> None:
        """Have what waits in memory stand in a file, for the next process; what finds no place even now is lost."""
        rest = [] if self.spool.path else self.spool.waiting(self.spool.end - self.spool.settled)
        if not rest:
            return
        try:
            kept = Spool.in_file(folder, self.spool.header)
            try:
                kept.append(rest)
            except OSError:
                kept.remove()
                raise
            self.spool.forget()
            self.spool = kept
            self.course.spools.append(kept)
        except OSError as why:
            lost = sum(not is_end(line) for line in rest)
            self.course.shortfall.add(lost=lost, why=f"no file can be written ({why}).")
            log.error("%d actions of session %s are lost: no file can be written (%s).", lost, self.key, why)  # noqa: TRY400  # said

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
    """What a spool says of itself; `session` is the body of the request that starts it, and `suffix` ends its key if that is another's."""
    return {"spool": 1, "url": url, "key_id": key_id, "suffix": secrets.token_hex(4), "session": session}


def suffix_of(spool: Spool) -> str:
    """What the session's other key ends with; that of a spool from before it was chosen is in its name."""
    return str(spool.header.get("suffix") or (spool.path.stem if spool.path else "")[-8:])
