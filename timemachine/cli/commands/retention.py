"""`retention`: rules for deleting old sessions, a preview of each, and the log of bulk deletions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder
from timemachine.cli.commands.session.deletion import outcome
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import local
from timemachine.cli.options import filter_text
from timemachine.cli.output.table import table
from timemachine.cli.terminal import confirm, show
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.generated import types


@click.group(cls=InOrder)
def retention() -> None:
    """Set how long sessions are kept. Sessions without a rule are kept permanently."""


@retention.command("list")
@options.as_json
def list_rules() -> None:
    """List the rules and what each would delete today."""
    found = connected().deletions.rules()
    show(found, _rules(found["items"]))


@retention.command("set")
@click.argument("days", metavar="DAYS|keep")
@click.option("--agent", default="", metavar="AGENT", help="Only sessions of this agent.")
@click.option("--tag", default="", metavar="TAG", help="Only sessions with this tag.")
@click.option("--reason", default="", metavar="TEXT", help="Why; required for fewer than 183 days.")
@click.option("--dry-run", is_flag=True, help="Show what it would delete today and exit.")
@options.yes
@options.as_json
def set_rule(*, days: str, agent: str, tag: str, reason: str, dry_run: bool) -> None:
    """Delete sessions this many days after their last step was recorded, or keep them permanently (keep).

    Without --agent and --tag, the rule applies to all sessions without a more specific rule. It replaces the rule for the same agent
    and tag.
    """
    most = _days(days)
    rule = partial(connected().deletions.set_rule, days=most, agent=agent, tag=tag, reason=reason)
    due = cast("types.RetentionPreview", rule(dry_run=True))
    lines = list(_preview(due, most))
    early = most is not None and most < due["floor"]["days"] and not reason.strip()
    needed = f"Fewer than {due['floor']['days']} days require a --reason: {due['floor']['because']}"
    if dry_run:
        show(due, [*lines, needed] if early else lines)
        return
    if early:
        raise Failure(needed)
    if most is not None:
        confirm("Set this rule?", lines, otherwise="Nothing was changed.")
    made = cast("types.RetentionRuleOut", rule())
    existed = due["replaces"] is not None and due["replaces"]["id"] == made["id"]
    since = f" It was already set on {local(made['set_at'])}." if existed else ""
    show(made, [f"Rule {made['id']}: {made['says']}.{since}", *lines])


@retention.command("remove")
@click.argument("rule", metavar="RULE")
@options.as_json
def remove_rule(*, rule: str) -> None:
    """Remove a rule."""
    removed = connected().deletions.remove_rule(rule)
    show(removed, [f"Rule removed: {removed['says']}."])


@retention.command("log")
@options.as_json
def log() -> None:
    """List bulk deletions by rules and by people, newest first."""
    client = connected()
    items = list(client.deletions.every())
    single = f"Single deletions: {client.url}/settings/retention/#singly"
    show({"items": items, "next": None}, [*_deletions(items), single])


def _preview(due: types.RetentionPreview, days: int | None) -> Iterator[str]:
    """What a rule would delete today, and which rule it replaces."""
    yield f"It would delete {_amount(due['due'])} today."
    if due["first"]:
        yield f"The next session without a legal hold is due on {due['first'][:10]}."
    if due["replaces"] and due["replaces"]["days"] != days:
        yield f"It replaces this rule: {due['replaces']['says']}."


def _days(written: str) -> int | None:
    if written == "keep":
        return None
    if not written.isascii() or not written.isdigit():
        raise click.UsageError("DAYS must be a whole number or `keep`.")
    return int(written)


def _amount(due: types.SessionCounts | None) -> str:
    if not due or not due["sessions"]:
        return "nothing"
    held = f" ({due['held']:,} under legal hold stay)" if due["held"] else ""
    return f"{counted(due['sessions'], 'session')} with {counted(due['turns'], 'turn')}{held}"


def _rules(items: list[types.RetentionRuleOut]) -> Iterator[str]:
    rows = [
        [
            each["id"],
            each["says"] + (" (shorter than six months)" if each["early"] else ""),
            _amount(each["due"]),
        ]
        for each in items
    ]
    none = "No rules. All sessions are kept permanently."
    yield from table(["id", "rule", "would delete today"], rows, none=none)


def _deletions(items: list[types.DeletionOut]) -> Iterator[str]:
    rows = [
        [
            local(each["confirmed_at"] or each["requested_at"]),
            each["confirmed_by"] or each["requested_by"],
            each["status"],
            " ".join(outcome(each)) if each["status"] != "found" else f"{each['sessions']:,} found",
            filter_text({name: value for name, value in each["filter"].items() if value not in ("", None)}),
        ]
        for each in items
    ]
    yield from table(["when", "by", "status", "result", "filter"], rows, none="No bulk deletions.")
