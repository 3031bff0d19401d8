"""`session branches`: what a session went on from, and what went on from it."""

from collections.abc import Iterator
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.group import OneEach
from timemachine.cli.output.table import table
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import counted


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@options.as_json
def branches(*, session: str, as_json: bool) -> None:
    """Show what a session went on from, and what went on from it.

    Each session stands under the one that it went on from, with the step from which it did.
    """
    with connected() as client:
        found = client.sessions.branches(session)
        show(found, _lines(found), as_json=as_json)


def _lines(found: dict[str, Any]) -> Iterator[str]:
    if len(found["items"]) == 1 and not went_on_from(found["items"][0]):
        yield "No session went on from this one, and it went on from none."
        return
    last = found["items"][-1]
    rows = [
        [
            f"{'└' if each is last else '├'}{'─' * (2 * each['depth'] - 1)} {each['key']}"
            if each["depth"]
            else each["key"],
            _begin(each),
            each["name"],
            each["status"],
            f"{each['actions']:,}",
        ]
        for each in found["items"]
    ]
    yield from table(("key", "from", "name", "status", "actions"), rows, right=("actions",))
    if not found["complete"]:
        yield f"There are more than these {counted(len(found['items']), 'session')}."


def _begin(branch: dict[str, Any]) -> str:
    parent = branch["parent"]
    return went_on_from(branch) if parent is None else _step(parent)


def went_on_from(session: dict[str, Any]) -> str:
    """Where a session left another, which may have been deleted since, or not be here yet; empty where it went on from none."""
    if parent := session["parent"]:
        return f"{_step(parent)} of {parent['session']}"
    if lost := session["parent_deleted"]:
        return f"{_step(lost)} of a deleted session"
    if awaited := session["parent_awaited"]:
        return f"{_step(awaited)} of {awaited['key']}, which is not here"
    return ""


def _step(parent: dict[str, Any]) -> str:
    return "the end" if parent["sequence"] is None else f"step {parent['sequence']:,}"
