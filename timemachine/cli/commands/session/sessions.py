"""`session`: the group, and start, end, status, list, view, checkpoint, resume and branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder, OneEach, suggest_next_page
from timemachine.cli.commands.session.annotations import compress, note, notes, proposals, summarise, weigh
from timemachine.cli.commands.session.compare import compare, totals
from timemachine.cli.commands.session.continuing import continue_
from timemachine.cli.commands.session.deletion import delete, erase
from timemachine.cli.commands.session.files import export, import_, transcript
from timemachine.cli.commands.session.holds import hold, holds, release
from timemachine.cli.commands.session.replays import judge, replay, trial
from timemachine.cli.commands.session.retrieval import sweep, where
from timemachine.cli.connection import connected, session_or_open
from timemachine.cli.formatting import duration, json_or_text, local, one_line, recorded_tokens, shortened
from timemachine.cli.output.table import facts, table
from timemachine.cli.output.timeline import action_lines
from timemachine.cli.terminal import print_line, print_lines, show, wants_json
from timemachine.core.pure.numbers import NOT_RECORDED, branch_point, counted, saved, spaced, total_cost
from timemachine.core.pure.unknown_prices import reasons_in_words

if TYPE_CHECKING:
    from timemachine.client.generated import types


@click.group(cls=InOrder)
def session() -> None:
    """Record, view, import, export and replay sessions."""


@session.command()
@click.argument("collection")
@click.option("--name", required=True, metavar="N", help="Display name.")
@click.option("--agent", metavar="A", help="Name of the agent.")
@click.option("--key", metavar="K", help="Your own ID, unique in the project.")
@options.as_json
def start(*, collection: str, name: str, agent: str | None, key: str | None) -> None:
    """Start a session that records what `put`, `find` and `ask` do in a collection."""
    begun = connected().sessions.start(collection=collection, name=name, agent=agent, key=key)
    lines = [
        f"Session {begun['key']} is open. It records every put, find and ask that this command makes in {one_line(collection)}.",
        *facts([("id", begun["id"]), ("page", begun["url"])]),
        f"End it with: timemachine session end {begun['key']}",
    ]
    show(begun, lines)


@session.command()
@options.session_argument
@options.as_json
def end(*, session: str | None) -> None:
    """End a session (default: the open one)."""
    client = connected()
    ended = client.sessions.end(session_or_open(client, session))
    recorded = counted(ended["actions"], "action")
    show(ended, [f"Session {ended['key']} has ended: {recorded} recorded."])


@session.command()
@options.as_json
def status() -> None:
    """List the open sessions."""
    found = connected().sessions.page(status="recording")
    none = "No session is open. Start one with `timemachine session start`."
    next_command = ["session", "list", "--status", "recording"]
    show(found, _listed(found, none, next_command))


@session.command("list")
@options.page
@options.session_filters
@click.option("--steps-since", metavar="DATE", help="Only sessions with a step on or after this day (UTC).")
@click.option("--steps-until", metavar="DATE", help="Only sessions with a step on or before this day (UTC).")
@click.option("--held", flag_value="yes", help="Only sessions under legal hold.")
@click.option(
    "--no-branches", "branch", flag_value="no", help="Leave out sessions that branched from another one."
)
@click.option(
    "--unknown-cost", "cost", flag_value="unknown", help="Only sessions with calls whose price is unknown."
)
@options.as_json
def list_(*, limit: int, after: str | None, **filters: Any) -> None:
    """List the sessions, newest first. All filters must match."""
    found = connected().sessions.page(limit=limit, after=after, **filters)
    none = (
        "No session matches."
        if any(filters.values())
        else "No sessions yet. Start one with `timemachine session start`, or load an example with `timemachine demo`."
    )
    show(found, _listed(found, none))


@session.command()
@click.argument("session", metavar="ID")
@options.as_json
def view(*, session: str) -> None:
    """Show a session step by step; --json prints the session without its steps."""
    client = connected()
    found = client.sessions.get(session)
    if wants_json():
        show(found, ())
        return
    print_lines(_session_facts(found, client.sessions.summary(session)))
    if found["actions"]:
        print_line("")
        print_lines(action_lines(client.sessions.actions(session), last=found["actions"]))


@session.command()
@options.session_argument
@click.option("--name", metavar="N", help="Name of the checkpoint.")
@options.as_json
def checkpoint(*, session: str | None, name: str | None) -> None:
    """Set a checkpoint in a session (default: the open one)."""
    client = connected()
    made = client.sessions.checkpoint(session_or_open(client, session), name=name)
    named = f" {one_line(made['name'])}" if made["name"] is not None else ""
    show(made, [f"Checkpoint{named} set at step {made['sequence']:,}."])


@session.command()
@click.argument("session", metavar="ID")
@click.option("--checkpoint", metavar="C", help="Name or step of the checkpoint (default: the last one).")
@options.as_json
def resume(*, session: str, checkpoint: str | None) -> None:
    """Show the state of the agent at a checkpoint.

    Long values are shortened. --json prints all of it, for an agent to continue from.
    """
    found = connected().sessions.resume(session, checkpoint=checkpoint)
    show(found, _state_facts(found))


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@options.as_json
def branches(*, session: str) -> None:
    """Show what a session branched from, and its branches.

    Each session is listed under the one it branched from, with the step.
    """
    found = connected().sessions.branches(session)
    show(found, _branch_lines(found))


def _branch_lines(found: types.BranchesOut) -> Iterator[str]:
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
    return branch_point(parent["sequence"])


for command in (
    import_,
    export,
    delete,
    erase,
    hold,
    release,
    holds,
    transcript,
    weigh,
    proposals,
    compress,
    summarise,
    totals,
    branches,
    compare,
    judge,
    replay,
    trial,
    continue_,
    where,
    sweep,
    note,
    notes,
):
    session.add_command(command)


def _listed(found: types.SessionPage, none: str, command: Sequence[str] = ()) -> Iterator[str]:
    heads = ["key", "name", "agent", "status", "started", "duration", "actions", "errors", "cost"]
    rows = [_row(each) for each in found["items"]]
    yield from table(heads, rows, right=("duration", "actions", "errors", "cost"), none=none)
    suggest_next_page(found, command=command)


def _row(found: types.SessionOut) -> list[str]:
    return [
        found["key"],
        shortened(found["name"], 40),
        shortened(found["agent"] or "", 20),
        found["status"],
        local(found["started_at"]) or NOT_RECORDED,
        _time(found["duration_ms"]) or NOT_RECORDED,
        f"{found['actions']:,}",
        f"{found['errors']:,}",
        total_cost(found["cost_usd"], found["unknown_cost_calls"]),
    ]


def _state_facts(found: types.ResumedOut) -> Iterator[str]:
    set_at, messages = found["checkpoint"], found["messages"]
    values = {
        name: each for name, each in found.items() if name not in ("checkpoint", "parent", "messages", "more")
    }
    yield from facts(
        [
            ("checkpoint", f"{one_line(set_at['name'] or NOT_RECORDED)}, step {set_at['sequence']:,}"),
            ("set", local(set_at["at"])),
            (
                "messages",
                NOT_RECORDED
                if messages is None
                else f"{len(messages):,}"
                if isinstance(messages, list)
                else "1",
            ),
            *(
                (spaced(name), NOT_RECORDED if each is None else shortened(json_or_text(each)))
                for name, each in values.items()
            ),
            ("more", ", ".join(sorted(found["more"]))),
        ]
    )


def _session_facts(found: types.SessionOut, summary: types.SummaryOut) -> Iterator[str]:
    yield from facts(
        [
            ("name", found["name"]),
            ("key", found["key"]),
            ("id", found["id"]),
            ("status", found["status"]),
            ("agent", found["agent"] or ""),
            ("user", found["user"] or ""),
            ("collection", found["collection"] or ""),
            ("imported", f"from {found['imported_as']}" if found["imported_as"] else ""),
            ("branched from", branched_from(found)),
            ("tags", ", ".join(found["tags"])),
            ("started", local(found["started_at"]) or NOT_RECORDED),
            ("ended", local(found["ended_at"]) or (NOT_RECORDED if found["status"] == "ended" else "")),
            ("duration", _time(found["duration_ms"])),
            ("actions", _actions(found, summary)),
            ("step time", _time(summary["steps_ms"])),
            ("models", _named(summary["models"])),
            ("tools", _named(summary["tools"])),
            ("iteration", f"up to {summary['max_iteration']:,}" if summary["max_iteration"] else ""),
            ("tokens", recorded_tokens(found)),
            ("cost", total_cost(found["cost_usd"], found["unknown_cost_calls"])),
            ("unknown", reasons_in_words(summary["unknown_reasons"])),
            ("judging", _judging(summary["judgements"])),
            ("notes", f"{summary['notes']:,}" if summary["notes"] else ""),
            ("cache", _saved(found)),
            ("page", found["url"]),
        ]
    )


def _actions(found: types.SessionOut, summary: types.SummaryOut) -> str:
    """The number of actions, how many of them no total counts, and the errors."""
    copied, corrections = summary["copied_actions"], summary["corrections"]
    parts = [
        f"{found['actions']:,}",
        f"{copied:,} of them copied" if copied else "",
        counted(corrections, "correction") if corrections else "",
        counted(found["errors"], "error"),
    ]
    return ", ".join(filter(None, parts))


def _time(milliseconds: float | None) -> str:
    """The duration; empty if it is not recorded."""
    return "" if milliseconds is None else duration(milliseconds)


def _named(counts: dict[str, int]) -> str:
    """Names with their number of calls, the most called first."""
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name} × {count:,}" for name, count in ordered)


def _judging(judged: types.JudgingCost) -> str:
    """The cost of judging the session's answers, which its own cost does not include; empty if there are no judgements."""
    if not judged["count"]:
        return ""
    spent = total_cost(judged["cost_usd"], judged["unknown_cost_calls"])
    return f"{spent} for {counted(judged['count'], 'judgement')}"


def _saved(found: types.SessionOut) -> str:
    """What the answer cache saved; empty if no answer came from it."""
    if not found["cached_calls"]:
        return ""
    return f"{counted(found['cached_calls'], 'answer')}, saved {saved(found['saved_usd'], found['unknown_saved_calls'])}"
