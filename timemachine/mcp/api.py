"""What tools need of a server: its HTTP API, by one of two ways."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote

from timemachine.core.pure.json_types import JsonObject

_KEY: Final = re.compile(r"[A-Za-z0-9._:@-]{1,200}")
_ADVICE: Final = {
    "scope_missing": "Reading tools need `read`, writing tools `record`. Ask the user for a different key; do not retry.",
    "session_not_found": "recorder_list and search_sessions name the sessions of this project.",
    "not_found": "recorder_list and search_sessions name the sessions of this project.",
    "key_taken": "Choose another `key`, or leave it out.",
    "session_ended": "Start another one with recorder_start.",
    "busy": "Call the tool again in a second.",
}


class Refused(Exception):
    """A request that failed: `message` says why, and what to do next."""

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code

    def __str__(self) -> str:
        """Return the message with the advice for its code."""
        advice = _ADVICE.get(self.code or "")
        return f"{self.message} {advice}" if advice else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedExport:
    """An exported session on the disk of the user's machine."""

    file: Path
    bytes: int


class Api(Protocol):
    """The HTTP API with the key of one caller."""

    current: str | None
    """The key of the session that was started over this connection and has not been stopped. Always None over HTTP, where every request is on its own."""

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: JsonObject | None = None,
    ) -> JsonObject:
        """Send a request and return its document. Raises `Refused`."""
        ...

    async def save_export(self, session: str, format_name: str) -> SavedExport | None:
        """Write an exported session to a file and return it; None if the files of this server are not the caller's. Raises `Refused`."""
        ...


def path_of(session: str, *rest: str | int) -> str:
    """Return the path of a session, or of something in it. Raises `Refused` for what is neither a key nor an id."""
    if not _KEY.fullmatch(session) or session in {".", ".."}:
        raise Refused(f"{session[:60]!r} is not the key or ID of a session.", code="session_not_found")
    return "/api/sessions/" + "/".join(quote(str(each), safe="") for each in (session, *rest))


def named_session(api: Api, given: str | None) -> str:
    """Return the session that an argument names, else the one that this connection started. Raises `Refused`."""
    if given:
        return given
    if api.current is None:
        raise Refused(
            "No session was started over this connection. Name one in `session` by its key or id, or start one with "
            "recorder_start, which returns its key. recorder_list lists the open ones."
        )
    return api.current
