"""`TimeMachine`: record, read and replay sessions from Python."""

import hashlib
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

from timemachine.client.by_name import ByName
from timemachine.client.errors import NoServer, NotRecorded
from timemachine.client.recording.delivery import Delivery
from timemachine.client.recording.fitting import iso
from timemachine.client.recording.outbox import header_of
from timemachine.client.recording.recorder import KEY, Session
from timemachine.client.recording.sender import EXIT_SECONDS, Sender
from timemachine.client.recording.snapshot import plain
from timemachine.client.recording.spans import Spans
from timemachine.client.recording.spool import spool_folder
from timemachine.client.recording.traces import KEY as KEY_OF_TRACES
from timemachine.client.recording.traces import NAME, traces_header
from timemachine.client.server import Server, find_server
from timemachine.core.pure.json_types import JsonObject

if TYPE_CHECKING:
    from timemachine.client.connection import Connection

log = logging.getLogger(__name__)

_KEY_ID: Final = re.compile(r"tmk_([a-z0-9]{12})_")
_MOST_LOGGED: Final = 1_000
_ANSWER_SECONDS: Final = 60.0  # for a batch; a slower server gets the batch again
CAPTURES: Final = frozenset({"sys"})


class TimeMachine(ByName):
    """One server. `url` and `api_key` default to TIMEMACHINE_URL and TIMEMACHINE_API_KEY, else to the server on this machine.

    With `strict`, problems raise instead of being logged. `spool` is the folder for undelivered recordings (TIMEMACHINE_SPOOL); with
    `fsync` they survive a power failure. `patience` is the number of seconds that the end of a session waits for delivery.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        strict: bool = False,
        spool: str | os.PathLike[str] | None = None,
        fsync: bool = False,
        patience: float = EXIT_SECONDS,
    ) -> None:
        self.strict = strict
        self.patience = patience
        self._named = {"TIMEMACHINE_URL": url, "TIMEMACHINE_API_KEY": api_key}
        self._folder = spool_folder(spool)
        self._logged: set[str] = set()
        self.sender = Sender(
            lambda: Delivery(self._connect, self._is_mine, self._folder, sync=fsync), self._folder
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> bool:
        """Deliver what is possible within `patience` and close; returns whether everything was delivered. The rest stays in the spool."""
        return self.sender.close(self.patience)

    def flush(self, timeout: float = 30.0) -> bool:
        """Wait until all sessions are delivered; returns whether they are. If strict, raises `NotRecorded` instead of returning False."""
        done = self.sender.flush(timeout)
        if not done and self.strict:
            unreachable = self.sender.delivery.unreachable
            why = (
                str(self.sender.shortfall)
                if self.sender.shortfall
                else unreachable.message
                if unreachable
                else None
            )
            raise NotRecorded(
                f"Not everything has been delivered: {why or 'the server has not accepted it yet.'}"
            )
        return done

    def deliver_spooled(self, timeout: float = 60.0) -> bool:
        """Deliver what finished processes on this machine recorded for this server and key; returns whether all of it was delivered.

        A recording process does this automatically when it starts and every five minutes.
        """
        self.sender.adopt()
        return self.flush(timeout) and not self.sender.delivery.adopted

    def session(  # type: ignore[override]  # lists the options by name
        self,
        name: str,
        *,
        agent: str | None = None,
        key: str | None = None,
        user: str | None = None,
        collection: str | None = None,
        parent: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
        end: bool = True,
        checkpoint_every: int | None = None,
        state: Callable[[], JsonObject] | None = None,
        capture: Collection[str] = (),
    ) -> Session:
        """Start a session: use it as a context manager, or call `end`. With the `key` of an open session, it continues that one.

        With `end=False` the session stays open. After every `checkpoint_every` actions, the result of `state` is saved as a checkpoint.
        `capture={"sys"}` also records files that are opened and HTTP requests that are made.
        """
        about = {
            "name": self._checked_name(name if isinstance(name, str) else str(name)),
            "key": self._checked_key(key if key is None or isinstance(key, str) else str(key)),
            **{
                field: None if given is None else str(given)
                for field, given in (("agent", agent), ("user", user), ("collection", collection))
            },
            "parent": self._object("parent", parent),
            "metadata": self._object("metadata", metadata),
            "tags": self._tags(tags),
        }
        if checkpoint_every and state is None:
            self.refuse(
                "`checkpoint_every` needs `state`, a function that returns the state. No checkpoints will be set."
            )
        if unknown := set(capture) - CAPTURES:
            self.refuse(f"Cannot capture {sorted(unknown)}. Use 'sys'.")
        server = self._server()
        body = {field: plain(value) for field, value in about.items() if value is not None}
        body["started_at"] = iso(time.time_ns())
        header = header_of(body, url=server.url if server else None, key_id=key_id(server))
        return Session(
            self,
            header,
            end=end,
            checkpoint_every=checkpoint_every,
            state=state,
            capture=frozenset(capture) & CAPTURES,
        )

    def spans(self) -> Spans:
        """A way for OpenTelemetry spans through the spool to the server."""
        server = self._server()
        about = header_of(
            {"key": KEY_OF_TRACES, "name": NAME}, url=server.url if server else None, key_id=key_id(server)
        )
        return Spans(self.sender, about | traces_header())

    def _object(self, field: str, given: Any) -> JsonObject | None:
        if given and not isinstance(given, Mapping):
            self.refuse(f"{field} must be a mapping. Ignored: {str(given)[:60]!r}.")
            return None
        return dict(given) if given else None

    def _tags(self, given: Any) -> list[str] | None:
        if isinstance(given, str):
            return [given]
        if not isinstance(given, Iterable):
            self.refuse(f"tags must be strings. Ignored: {str(given)[:60]!r}.")
            return None
        return [str(each) for each in given] or None

    def refuse(self, message: str) -> None:
        """Report that something cannot be recorded as given: raise `NotRecorded` if strict, else log it once."""
        if self.strict:
            raise NotRecorded(message)
        if message not in self._logged and len(self._logged) < _MOST_LOGGED:
            self._logged.add(message)
            log.warning("%s", message)

    def watch(self, session: Session, capture: frozenset[str]) -> None:
        """Start recording what a session captures, or stop if `capture` is empty."""
        from timemachine.client.recording import system_events  # imports httpx

        if "sys" in capture:
            system_events.listen(session)
        else:
            system_events.stop_listening(session)

    def _found_server(self) -> Server:
        named = {name: value for name, value in self._named.items() if value is not None}
        if "TIMEMACHINE_API_KEY" in named:
            named["TIMEMACHINE_API_KEY_FILE"] = ""
        return find_server({**os.environ, **named})

    def _server(self) -> Server | None:
        try:
            return self._found_server()
        except NoServer as why:
            self.refuse(why.message)
            return None

    def _connect(self) -> "Connection":
        from timemachine.client.connection import Connection

        return Connection(self._found_server(), patience=_ANSWER_SECONDS, longest_wait=0.0)

    def _is_mine(self, header: JsonObject) -> bool:
        """Whether a recording of another process is for this server and key, or for any server."""
        try:
            server = self._found_server()
        except NoServer:
            return False
        url = header.get("url")
        return url is None or (url == server.url and header.get("key_id") == key_id(server))

    def _checked_name(self, name: str) -> str:
        if name.strip():
            return name
        self.refuse("A session needs a name.")
        return "unnamed"

    def _checked_key(self, key: str | None) -> str:
        if key is not None and KEY.fullmatch(key):
            return key
        if key is not None:
            self.refuse(
                f"The key {key[:60]!r} is invalid, so a different one is used. Keys are 1–200 characters: letters, digits, and . _ : @ -."
            )
        return f"sess-{secrets.token_hex(8)}"


def key_id(server: Server | None) -> str | None:
    """The public part of an API key, else a hash of it."""
    if server is None or server.key is None:
        return None
    found = _KEY_ID.match(server.key)
    return found[1] if found else hashlib.sha256(server.key.encode()).hexdigest()[:12]
