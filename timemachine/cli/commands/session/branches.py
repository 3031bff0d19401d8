"""`session branches`: what a session branched from, and its branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.output.table import table
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.generated import types


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@options.as_json
def branches(*, session: str) -> None:
    """Show what a session branched from, and its branches.

    Each session is listed under the one it branched from, with the step.
    """
    found = connected().sessions.branches(session)
    show(found, _lines(found))


def _lines(found: types.BranchesOut) -> Iterator[str]:
    if len(found["items"]) == 1 and not branched_from(found["items"][0]):
        yield "No branches."
        return
    last = found["items"][-1]
    rows = [
        [
            f"{'└' if each is last else '├'}{'─' * (2 * each['depth'] - 1)} {each['key']}"
            if each["depth"]
            else each["key"],
            branched_from(each) if each["parent"] is None else _step(each["parent"]),
            each["name"],
            each["status"],
            f"{each['actions']:,}",
        ]
        for each in found["items"]
    ]
    yield from table(("key", "from", "name", "status", "actions"), rows, right=("actions",))
    if not found["complete"]:
        yield f"Only the first {counted(len(found['items']), 'session')} are shown."


def branched_from(session: types.BranchOut | types.SessionOut) -> str:
    """The step and session that this one branched from, also if that was deleted or not imported yet; else empty."""
    if parent := session["parent"]:
        return f"{_step(parent)} of {parent['session']}"
    if deleted := session["parent_deleted"]:
        return f"{_step(deleted)} of a deleted session"
    if missing := session["parent_awaited"]:
        return f"{_step(missing)} of {missing['key']}, which is not on this server"
    return ""


def _step(parent: types.ParentOut | types.ParentDeletedOut | types.ParentAwaitedOut) -> str:
    return "the end" if parent["sequence"] is None else f"step {parent['sequence']:,}"
