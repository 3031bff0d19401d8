"""`session hold`, `release` and `holds`: legal holds, which protect sessions from deletion and erasure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import local
from timemachine.cli.options import filter_options, filter_text, given_filters
from timemachine.cli.output.table import table
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types

_HEADS = ["hold", "placed", "by", "sessions", "still held", "filter", "reason"]


@click.command(cls=OneEach)
@click.argument("sessions", nargs=-1, metavar="[ID…]")
@filter_options
@click.option("--reason", required=True, metavar="TEXT", help="Why; stored in the project's log.")
@click.option("--dry-run", is_flag=True, help="Show how many sessions it would cover and exit.")
@options.as_json
def hold(*, sessions: tuple[str, ...], reason: str, dry_run: bool, **filters: Any) -> None:
    """Place a legal hold on sessions, or on all that match a filter now.

    Until the hold is released, nothing in these sessions can be deleted or erased, not even by retention rules.
    """
    which = given_filters(filters)
    if bool(sessions) == bool(which):
        raise click.UsageError("Use either IDs of sessions or a filter like --tag or --user.")
    found = connected().deletions.hold(*sessions, reason=reason, dry_run=dry_run, **which)
    number = counted(found["sessions"] or 0, "session")
    line = f"Hold {found['id']}: {number} under hold." if "id" in found else f"{number} would be under hold."
    show(found, [line])


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@options.several("--session", "sessions", metavar="ID", help="Release only this session")
@click.option("--reason", required=True, metavar="TEXT", help="Why; stored in the project's log.")
@options.as_json
def release(*, target: str, sessions: tuple[str, ...], reason: str) -> None:
    """Release a legal hold, or only some of its sessions.

    ID is the id of the hold. If a session is under exactly one hold, its ID also works and releases only this session.
    """
    client = connected()
    named = {each["id"] for each in client.deletions.holds()}
    if target not in named:
        on = [each for each in client.deletions.holds(target) if _covers(client, each["id"], target)]
        if len(on) != 1:
            raise Failure(
                f"{target} is under {'no hold' if not on else f'{len(on)} holds'}. Use the ID of a hold from `session holds`."
            )
        target, sessions = on[0]["id"], (target,)
    found = client.deletions.release(target, reason=reason, sessions=sessions)
    still = f" {found['held_still']:,} of its sessions are still under hold."
    show(found, [f"Released.{'' if found['released_at'] else still}"])


@click.command(cls=OneEach)
@click.argument("session", metavar="[ID]", required=False)
@options.as_json
def holds(*, session: str | None) -> None:
    """List legal holds, newest first, including released ones (default: of all sessions)."""
    items = list(connected().deletions.holds(session))
    show({"items": items, "next": None}, _listed(items))


def _covers(client: Client, hold_id: str, session: str) -> bool:
    found = client.deletions.get_hold(hold_id)
    session_id = client.sessions.get(session)["id"]
    open_ = [each for each in found["first"] if each["session"] == session_id and each["released_at"] is None]
    more = bool(found["held_still"]) and (found["sessions"] or 0) > len(found["first"])
    return bool(open_) or more


def _listed(items: list[types.HoldOut]) -> Iterator[str]:
    rows = [
        [
            each["id"],
            local(each["placed_at"]),
            each["placed_by"],
            f"{each['sessions']:,}",
            f"{each['held_still']:,}",
            filter_text(each["filter"]) or "named",
            each["reason"],
        ]
        for each in items
    ]
    yield from table(_HEADS, rows, right=("sessions", "still held"), none="No legal holds.")
