"""`session hold`, `release` and `holds`: what nothing can delete or erase."""

from collections.abc import Iterator
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.group import OneEach
from timemachine.cli.output.table import table
from timemachine.cli.session_filters import given_of, told, which_options
from timemachine.cli.terminal import show
from timemachine.cli.times import local
from timemachine.core.pure.numbers import counted

_HEADS = ["hold", "placed", "by", "sessions", "held still", "of", "reason"]


@click.command(cls=OneEach)
@click.argument("sessions", nargs=-1, metavar="[ID…]")
@which_options
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stays in the project's log.")
@click.option("--dry-run", is_flag=True, help="Say how many sessions that would be.")
@options.as_json
def hold(*, sessions: tuple[str, ...], reason: str, dry_run: bool, as_json: bool, **asked: Any) -> None:
    """Place a legal hold on sessions, or on all that fit a filter now.

    Nothing of them can be deleted or erased before it is released: by nobody, no command and no retention rule.
    """
    which = given_of(asked)
    if bool(sessions) == bool(which):
        raise click.UsageError("Give either the IDs of sessions, or a filter like --tag or --user.")
    with connected() as client:
        found = client.forgetting.hold(*sessions, reason=reason, dry_run=dry_run, **which)
        number = counted(found["sessions"], "session")
        lines = [f"{number} would be held."] if dry_run else [f"Hold {found['id']}: {number} held."]
        show(found, lines, as_json=as_json)


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@click.option("--session", "sessions", multiple=True, metavar="ID", help="Only this session of the hold.")
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stays in the project's log.")
@options.as_json
def release(*, target: str, sessions: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Release a legal hold, or only sessions of it.

    ID is a hold's. A session under one hold alone may be named instead: it is released from that.
    """
    with connected() as client:
        named = {each["id"] for each in client.forgetting.holds()}
        if target not in named:
            on = [each for each in client.forgetting.holds(target) if _holds(client, each["id"], target)]
            if len(on) != 1:
                raise Failure(
                    f"{target} is {'under no hold' if not on else f'under {len(on)} holds'}; name the hold, as `session holds` lists it."
                )
            target, sessions = on[0]["id"], (target,)
        found = client.forgetting.release(target, reason=reason, sessions=sessions)
        over = (
            "It is over."
            if found["released_at"]
            else f"{found['held_still']:,} of its sessions are held still."
        )
        show(found, [f"Released. {over}"], as_json=as_json)


@click.command(cls=OneEach)
@click.argument("session", metavar="[ID]", required=False)
@options.as_json
def holds(*, session: str | None, as_json: bool) -> None:
    """List legal holds, the newest first, released ones too; of one session, or all."""
    with connected() as client:
        items = list(client.forgetting.holds(session))
        show({"items": items, "next": None}, _listed(items), as_json=as_json)


def _holds(client: Any, hold_id: str, session: str) -> bool:
    found = client.forgetting.get_hold(hold_id)
    wanted = client.sessions.get(session)["id"]
    open_ = [each for each in found["first"] if each["session"] == wanted and each["released_at"] is None]
    return bool(open_) or (found["held_still"] > 0 and found["sessions"] > len(found["first"]))


def _listed(items: list[dict[str, Any]]) -> Iterator[str]:
    if not items:
        yield "There is no hold."
        return
    rows = [
        [
            each["id"],
            local(each["placed_at"]),
            each["placed_by"],
            f"{each['sessions']:,}",
            f"{each['held_still']:,}",
            told(each["filter"]) or "named",
            each["reason"],
        ]
        for each in items
    ]
    yield from table(_HEADS, rows, right=("sessions", "held still"))
