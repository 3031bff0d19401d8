"""`spool`: what was recorded on this machine and is not on a server."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import shortened
from timemachine.cli.group import InOrder
from timemachine.cli.output.table import table
from timemachine.cli.question import confirmed
from timemachine.cli.terminal import complain, show
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
    help="The folder of the spools; TIMEMACHINE_SPOOL, else in the user's state folder.",
)
_RECORDINGS = click.argument("names", metavar="RECORDING…", nargs=-1)


@click.group(cls=InOrder)
def spool() -> None:
    """See, send again and drop what was recorded on this machine and has not arrived."""


@spool.command("list")
@_FOLDER
@options.as_json
def list_(*, folder: Path | None, as_json: bool) -> None:
    """List the recordings: waiting for a server, refused by one, or in use by a process that records."""
    from timemachine.client.recording.waiting_recordings import remaining_in

    found = remaining_in(spool_folder(folder))
    try:
        server = find_server(os.environ)
    except NoServer:
        server = None
    show(
        {"items": [_remaining_json(each) for each in found], "next": None},
        _listed(found, server),
        as_json=as_json,
    )


@spool.command()
@_RECORDINGS
@click.option(
    "--as",
    "key",
    metavar="KEY",
    help="Send the one recording to a session of this key instead, which ends with it.",
)
@_FOLDER
@options.as_json
def send(*, names: tuple[str, ...], key: str | None, folder: Path | None, as_json: bool) -> None:
    """Send what waits and what was refused, once more.

    Without RECORDING all that was recorded for this server with this key, but for what processes that record have in use. What was recorded with
    another key or for another server stays, and the command says so. What arrived before is not there twice.
    """
    from timemachine.client.recording.waiting_recordings import IN_USE, UNREADABLE, named_in, remaining_in
    from timemachine.client.recording.waiting_recordings import send as sent

    where = spool_folder(folder)
    if key is not None and len(names) != 1:
        raise click.UsageError("--as needs one RECORDING.")
    others: list[Remaining] = []
    with connected() as client:
        if names:
            chosen = named_in(where, names)
        else:
            server = find_server(os.environ)
            there = [each for each in remaining_in(where) if each.state not in {IN_USE, UNREADABLE}]
            chosen = [each for each in there if _is_for(each, server)]
            others = [each for each in there if not _is_for(each, server)]
        done = [sent(each, client.connection, key=key) for each in chosen]
    items, stay = [_sent_json(each) for each in done], [_remaining_json(each) for each in others]
    show({"items": items, "next": None, "passed_over": stay}, _sent(done, others), as_json=as_json)
    short = [each for each in done if each.short]
    if short:
        raise _not_arrived(short)


@spool.command()
@_RECORDINGS
@click.option("--yes", is_flag=True, help="Do not ask.")
@_FOLDER
@options.as_json
def drop(*, names: tuple[str, ...], yes: bool, folder: Path | None, as_json: bool) -> None:
    """Remove recordings, after asking; there is no way back."""
    from timemachine.client.recording.waiting_recordings import drop as dropped
    from timemachine.client.recording.waiting_recordings import named_in

    if not names:
        raise click.UsageError("Say which RECORDING.")
    chosen = named_in(spool_folder(folder), names)
    if not yes and not confirmed(f"Drop {_together(chosen)} for good?"):
        raise Failure("Nothing was dropped; answer yes, or say --yes.")
    for each in chosen:
        dropped(each)
    items = [{"file": each.name, "actions": each.actions} for each in chosen]
    told = [f"{each.name} is dropped with {_together([each])}." for each in chosen]
    show({"items": items, "next": None}, told, as_json=as_json)


def _together(chosen: "Sequence[Remaining]") -> str:
    """So many actions; of a spool that cannot be read it is not known."""
    if any(each.actions is None for each in chosen):
        return "an unknown number of actions"
    return counted(sum(each.actions or 0 for each in chosen), "action")


def _is_for(remaining: "Remaining", server: Server) -> bool:
    """Whether it was recorded for this server with this key, or for whichever there would be."""
    return (remaining.url, remaining.key_id) in {(None, None), (server.url, key_id(server))}


def _why(remaining: "Remaining", server: Server | None) -> str:
    """Why it is still here; first that it was recorded with another key of the server than the one in use."""
    reasons = [remaining.why] if remaining.why else []
    if server is not None and remaining.url == server.url and remaining.key_id != key_id(server):
        reasons = [f"It was recorded with another API key ({remaining.key_id or 'unknown'}).", *reasons]
    return " ".join(reasons)


def _listed(found: "list[Remaining]", server: Server | None) -> Iterator[str]:
    if not found:
        yield "Nothing is left here: all that was recorded has arrived."
        return
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
    yield from table(["recording", "session", "actions", "state", "server", "why"], rows, right=["actions"])


def _sent(done: "list[Sent]", others: "list[Remaining]") -> Iterator[str]:
    if not done:
        yield "There is nothing to send with this key." if others else "There is nothing to send."
    for each in done:
        yield f"{counted(each.arrived, 'action')} of {each.name} arrived in session {each.session}."
    if others:
        yield (
            f"{counted(len(others), 'recording')} with another API key or for another server {'stays' if len(others) == 1 else 'stay'}: "
            "`timemachine spool list` names what is left, and `timemachine spool send RECORDING` sends one with this key."
        )


def _not_arrived(short: "list[Sent]") -> Failure:
    """Why it did not go; of several recordings each says so in a line of its own before."""
    told = f"{counted(sum(each.short for each in short), 'action')} did not arrive"
    ways = "`--as KEY` sends them to another session, and `spool drop` drops them."
    if len(short) == 1:
        return Failure(f"{told}: {short[0].why} {ways}")
    for each in short:
        complain(
            f"{counted(each.short, 'action')} of {each.name} did not arrive in session {each.session}: {each.why}"
        )
    return Failure(f"{told}. {ways}")


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
        "lost": 0,  # what remains stays where it is
        "why": sent.why,
    }
