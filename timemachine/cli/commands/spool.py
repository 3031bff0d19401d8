"""`spool`: recordings on this machine that have not reached a server."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import shortened
from timemachine.cli.output.table import table
from timemachine.cli.terminal import confirm, print_error, show
from timemachine.client.errors import NoServer
from timemachine.client.machine import key_id
from timemachine.client.recording.spool import spool_folder
from timemachine.client.server import Server, find_server
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.recording.waiting_recordings import Remaining, Sent

_FOLDER = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Spool folder (default: TIMEMACHINE_SPOOL, else the user's state folder).",
)
_RECORDINGS = click.argument("names", metavar="RECORDING…", nargs=-1)


@click.group(cls=InOrder)
def spool() -> None:
    """List, send and drop recordings on this machine that have not reached a server."""


@spool.command("list")
@_FOLDER
@options.as_json
def list_(*, folder: Path | None) -> None:
    """List the recordings: waiting for a server, refused by one, or in use by a process that is recording."""
    from timemachine.client.recording.waiting_recordings import remaining_in

    found = remaining_in(spool_folder(folder))
    try:
        server = find_server(os.environ)
    except NoServer:
        server = None
    items = [_remaining_json(each) for each in found]
    show({"items": items, "next": None}, _listed(found, server))


@spool.command()
@_RECORDINGS
@click.option(
    "--as",
    "key",
    metavar="KEY",
    help="Send the recording to a session with this key instead, and end that session.",
)
@_FOLDER
@options.as_json
def send(*, names: tuple[str, ...], key: str | None, folder: Path | None) -> None:
    """Send waiting and refused recordings again.

    Without RECORDING, sends everything recorded for this server with this API key, except what a process is recording now. Recordings
    for another key or server are skipped and listed. Steps that were delivered before are not duplicated.
    """
    from timemachine.client.recording.waiting_recordings import IN_USE, UNREADABLE, named_in, remaining_in
    from timemachine.client.recording.waiting_recordings import send as sent

    where = spool_folder(folder)
    if key is not None and len(names) != 1:
        raise click.UsageError("--as needs exactly one RECORDING.")
    others: list[Remaining] = []
    client = connected()
    if names:
        chosen = named_in(where, names)
    else:
        server = find_server(os.environ)
        there = [each for each in remaining_in(where) if each.state not in {IN_USE, UNREADABLE}]
        chosen = [each for each in there if _is_for(each, server)]
        others = [each for each in there if not _is_for(each, server)]
    done = [sent(each, client.connection, key=key) for each in chosen]
    items, stay = [_sent_json(each) for each in done], [_remaining_json(each) for each in others]
    show({"items": items, "next": None, "passed_over": stay}, _sent(done, others))
    short = [each for each in done if each.undelivered]
    if short:
        raise _not_delivered(short)


@spool.command()
@_RECORDINGS
@options.yes
@_FOLDER
@options.as_json
def drop(*, names: tuple[str, ...], folder: Path | None) -> None:
    """Delete recordings permanently, after confirmation."""
    from timemachine.client.recording.waiting_recordings import drop as dropped
    from timemachine.client.recording.waiting_recordings import named_in

    if not names:
        raise click.UsageError("Name the RECORDING to drop. List them with `timemachine spool list`.")
    chosen = named_in(spool_folder(folder), names)
    confirm(f"Permanently delete {_actions(chosen)}?")
    for each in chosen:
        dropped(each)
    items = [{"file": each.name, "actions": each.actions} for each in chosen]
    lines = [f"Deleted {each.name} with {_actions([each])}." for each in chosen]
    show({"items": items, "next": None}, lines)


def _actions(chosen: "Sequence[Remaining]") -> str:
    """The number of actions; unknown for a spool that cannot be read."""
    if any(each.actions is None for each in chosen):
        return "an unknown number of actions"
    return counted(sum(each.actions or 0 for each in chosen), "action")


def _is_for(remaining: "Remaining", server: Server) -> bool:
    """Whether it was recorded for this server with this key, or for any server."""
    return (remaining.url, remaining.key_id) in {(None, None), (server.url, key_id(server))}


def _why(remaining: "Remaining", server: Server | None) -> str:
    """Why it is still here. A different API key for the same server comes first."""
    reasons = [remaining.why] if remaining.why else []
    if server is not None and remaining.url == server.url and remaining.key_id != key_id(server):
        reasons = [f"It was recorded with another API key ({remaining.key_id or 'unknown'}).", *reasons]
    return " ".join(reasons)


def _listed(found: "list[Remaining]", server: Server | None) -> Iterator[str]:
    rows = [
        [
            each.name,
            each.session.get("key", "unknown"),
            "unknown" if each.actions is None else f"{each.actions:,}",
            each.state,
            each.url or "any server",
            shortened(_why(each, server), 100),
        ]
        for each in found
    ]
    heads = ["recording", "session", "actions", "state", "server", "why"]
    none = "No recordings here. Everything was delivered."
    yield from table(heads, rows, right=["actions"], none=none)


def _sent(done: "list[Sent]", others: "list[Remaining]") -> Iterator[str]:
    if not done:
        yield "Nothing to send with this API key." if others else "Nothing to send."
    for each in done:
        yield f"{counted(each.arrived, 'action')} of {each.name} delivered to session {each.session}."
    if others:
        yield (
            f"{counted(len(others), 'recording')} for another API key or server skipped. List them with `timemachine spool list`; "
            "send one with this key using `timemachine spool send RECORDING`."
        )


def _not_delivered(short: "list[Sent]") -> Failure:
    """Why steps were not delivered. With several recordings, a line for each is printed first."""
    outcome = f"{counted(sum(each.undelivered for each in short), 'action')} not delivered"
    ways = "Use `--as KEY` to send them to another session, or `spool drop` to delete them."
    if len(short) == 1:
        return Failure(f"{outcome}: {short[0].why} {ways}")
    for each in short:
        print_error(
            f"{counted(each.undelivered, 'action')} of {each.name} not delivered to session {each.session}: {each.why}"
        )
    return Failure(f"{outcome}. {ways}")


def _remaining_json(remaining: "Remaining") -> dict[str, Any]:
    return {
        "file": remaining.name,
        "session": remaining.session.get("key"),
        "name": remaining.session.get("name"),
        "actions": remaining.actions,
        "state": remaining.state.replace(" ", "_"),
        "url": remaining.url,
        "key_id": remaining.key_id,
        "why": remaining.why,
    }


def _sent_json(sent: "Sent") -> dict[str, Any]:
    return {
        "file": sent.name,
        "session": sent.session,
        "arrived": sent.arrived,
        "waiting": sent.waiting,
        "refused": sent.refused,
        "lost": 0,  # what was not delivered stays here
        "why": sent.why,
    }
