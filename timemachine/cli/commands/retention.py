"""`retention`: how long sessions are kept, what that would delete today, and what it has deleted."""

from collections.abc import Iterator
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.commands.deleting import outcome
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.group import InOrder
from timemachine.cli.output.table import table
from timemachine.cli.question import confirmed
from timemachine.cli.session_filters import told
from timemachine.cli.terminal import complain, show
from timemachine.cli.times import local
from timemachine.core.pure.numbers import counted


@click.group(cls=InOrder)
def retention() -> None:
    """Say how long sessions are kept. What no rule covers is kept for good."""


@retention.command("list")
@options.as_json
def list_rules(*, as_json: bool) -> None:
    """List the rules, each with what it would delete today."""
    with connected() as client:
        found = client.forgetting.rules()
        show(found, _rules(found["items"]), as_json=as_json)


@retention.command("set")
@click.argument("days", metavar="DAYS|keep")
@click.option("--agent", default="", metavar="AGENT", help="Sessions of this agent.")
@click.option("--tag", default="", metavar="TAG", help="Sessions with this tag.")
@click.option("--reason", default="", metavar="TEXT", help="Why; needed for fewer than 183 days.")
@click.option("--dry-run", is_flag=True, help="Say what it would delete today, and set nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
def set_rule(
    *, days: str, agent: str, tag: str, reason: str, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Keep sessions for so many days after something was last recorded in them, or for good (keep).

    Without --agent and --tag it is a rule for all others. A rule for the same agent and tag is replaced.
    """
    asked: dict[str, Any] = {"days": _days(days), "agent": agent, "tag": tag, "reason": reason}
    with connected() as client:
        due = client.forgetting.set_rule(**asked, dry_run=True)
        lines = list(_seen(due, asked["days"]))
        early = asked["days"] is not None and asked["days"] < due["floor"]["days"] and not reason.strip()
        needed = f"Fewer than {due['floor']['days']} days need a --reason: {due['floor']['because']}"
        if dry_run:
            show(due, [*lines, needed] if early else lines, as_json=as_json)
            return
        if early:
            raise Failure(needed)
        if not yes and asked["days"] is not None:
            for line in lines:
                complain(line)
            if not confirmed("Set this rule?"):
                raise Failure("Nothing was set; answer yes, or say --yes.")
        made = client.forgetting.set_rule(**asked)
        stood = due["replaces"] is not None and due["replaces"]["id"] == made["id"]
        stands = f" It stands already, since {local(made['set_at'])}." if stood else ""
        show(made, [f"Rule {made['id']}: {made['says']}.{stands}", *lines], as_json=as_json)


@retention.command("remove")
@click.argument("rule", metavar="RULE")
@options.as_json
def remove_rule(*, rule: str, as_json: bool) -> None:
    """Take a rule away."""
    with connected() as client:
        gone = client.forgetting.remove_rule(rule)
        show(gone, [f"No more: {gone['says']}."], as_json=as_json)


@retention.command("log")
@options.as_json
def log(*, as_json: bool) -> None:
    """List what was deleted in bulk, by rules and by people, the newest first."""
    with connected() as client:
        items = list(client.forgetting.every())
        singly = f"Sessions and turns that were deleted one by one: {client.url}/settings/retention/#singly"
        show({"items": items, "next": None}, [*_deletions(items), singly], as_json=as_json)


def _seen(due: dict[str, Any], days: int | None) -> Iterator[str]:
    """What a rule would do today, and which rule it takes the place of."""
    yield f"Today it would delete {_amount(due['due'])}."
    if due["first"]:
        yield f"The first session that is not held is old enough from {due['first'][:10]} on."
    if due["replaces"] and due["replaces"]["days"] != days:
        yield f"The rule there was: {due['replaces']['says']}."


def _days(written: str) -> int | None:
    if written == "keep":
        return None
    if not written.isascii() or not written.isdigit():
        raise click.UsageError("DAYS is a whole number, or keep.")
    return int(written)


def _amount(due: dict[str, Any] | None) -> str:
    if not due or not due["sessions"]:
        return "nothing"
    held = f" ({due['held']:,} under legal hold, which stay)" if due["held"] else ""
    return f"{counted(due['sessions'], 'session')} with {counted(due['turns'], 'turn')}{held}"


def _rules(items: list[dict[str, Any]]) -> Iterator[str]:
    if not items:
        yield "There is no rule: every session is kept for good."
        return
    rows = [
        [each["id"], each["says"] + (" (before six months)" if each["early"] else ""), _amount(each["due"])]
        for each in items
    ]
    yield from table(["rule", "says", "would delete today"], rows)


def _deletions(items: list[dict[str, Any]]) -> Iterator[str]:
    if not items:
        yield "Nothing was deleted in bulk."
        return
    rows = [
        [
            local(each["confirmed_at"] or each["requested_at"]),
            each["confirmed_by"] or each["requested_by"],
            each["status"],
            " ".join(outcome(each)) if each["status"] != "found" else f"{each['sessions']:,} found",
            told({name: value for name, value in each["filter"].items() if value not in ("", None)}),
        ]
        for each in items
    ]
    yield from table(["when", "by", "status", "what became of it", "of"], rows)
