"""The session that `put`, `find` and `ask` record into: the one that was named, else the one that is open in the collection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import click

from timemachine.cli.terminal import print_error
from timemachine.client.errors import Refused

if TYPE_CHECKING:
    from timemachine.client.client import Client

_MOST_OPEN: Final = 1_000
_MOST_NAMED: Final = 5
_CANNOT_RECORD: Final = frozenset({"scope_missing", "session_ended"})


def recorded_in[T](
    do: Callable[[str | None], T], client: Client, collection: str, session: str | None, *, no_session: bool
) -> tuple[T, str | None]:
    """Do something in the session, and return the result and the session that recorded it, if any.

    If the session was not named and cannot record, it is done outside of it, with the reason on standard error.
    """
    recording = session_to_record_in(client, collection, session, no_session=no_session)
    try:
        return do(recording), recording
    except Refused as why:
        if session is not None or recording is None or why.code not in _CANNOT_RECORD:
            raise
        print_error(f"Not recorded in session {recording}: {why.message}")
        return do(None), None


def session_to_record_in(
    client: Client, collection: str, session: str | None, *, no_session: bool
) -> str | None:
    """The session that was named, else the key of the only session that is open in the collection.

    If several are open, none is chosen, and standard error names them. Raises `UsageError`.
    """
    if session is not None and no_session:
        raise click.UsageError("Use either --session or --no-session, not both.")
    if session is not None or no_session:
        return session
    keys = _open_sessions(client, collection)
    if len(keys) > 1:
        others = " and others" if len(keys) > _MOST_NAMED else ""
        named = ", ".join(keys[:_MOST_NAMED])
        print_error(
            f"Not recorded, because several sessions are open: {named}{others}. Choose one with --session."
        )
        return None
    return keys[0] if keys else None


def _open_sessions(client: Client, collection: str) -> list[str]:
    """The keys of the sessions that are open in a collection; none if the key may not list them."""
    try:
        found = list(client.sessions.every(status="recording", limit=_MOST_OPEN))
    except Refused as why:
        if why.code != "scope_missing":
            raise
        return []
    return [each["key"] for each in found if each["collection"] == collection]
