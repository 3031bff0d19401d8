"""`patterns`: recurring errors and questions, what solved them, and rules that raise alerts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder, suggest_next_page
from timemachine.cli.connection import connected
from timemachine.cli.formatting import local, one_line, shortened
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import NOT_RECORDED, counted

if TYPE_CHECKING:
    from timemachine.client.generated import types

_TEXT = 100
_NAMED = 12
kind = click.option("--kind", type=click.Choice(["error", "question"]), help="Only errors or only questions.")


@click.group(cls=InOrder)
def patterns() -> None:
    """Show errors and questions that recur in several sessions, and what solved them."""


@patterns.command("list")
@kind
@click.option("--query", "q", metavar="TEXT", help="Only patterns with this text in one of their wordings.")
@click.option("--since", metavar="WHEN", help="Only patterns seen at or after this time (RFC 3339) or date.")
@click.option(
    "--solved/--unsolved",
    default=None,
    help="Only patterns that were solved in a session, or only those that were not.",
)
@click.option(
    "--min-sessions", type=click.IntRange(min=1), metavar="N", help="Minimum number of sessions (default 2)."
)
@options.page
@options.as_json
def list_patterns(*, solved: bool | None, **filters: Any) -> None:
    """List patterns, the most recently seen first."""
    word = None if solved is None else "yes" if solved else "no"
    found = connected().patterns.page(solved=word, **filters)
    show(found, _listed(found))


@patterns.command()
@click.argument("pattern", metavar="ID")
@options.page
@options.as_json
def view(*, pattern: str, limit: int, after: str | None) -> None:
    """Show a pattern: its wordings, its sessions and what solved it in each."""
    found = connected().patterns.get(pattern, limit=limit, after=after)
    show(found, _details(found))


@patterns.command()
@click.argument("place", metavar="[SESSION:STEP]", required=False)
@click.option("--text", metavar="TEXT", help="An error message or a question instead of a step.")
@kind
@options.as_json
def similar(*, place: str | None, text: str | None, kind: str | None) -> None:
    """Find patterns that resemble a step or a text, and what solved them elsewhere."""
    if (place is None) == (text is None):
        raise click.UsageError("Use SESSION:STEP or --text TEXT.")
    found = connected().patterns.similar(place, text=text, kind=kind)
    show(found, _similar(found))


@patterns.command()
@options.page
@options.as_json
def alerts(*, limit: int, after: str | None) -> None:
    """List the alerts, newest first."""
    found = connected().patterns.alerts(limit=limit, after=after)
    show(found, _alerts(found))


@patterns.command()
@click.argument("alert", metavar="ID")
@options.as_json
def seen(*, alert: str) -> None:
    """Dismiss an alert: the navigation no longer counts it."""
    found = connected().patterns.dismiss(alert)
    show(found, [f"Dismissed by {one_line(found['seen_by'] or '')}."])


@patterns.group(cls=InOrder)
def rule() -> None:
    """Add, list and delete the rules that raise alerts."""


@rule.command("add")
@click.option(
    "--sessions",
    type=click.IntRange(2, 1_000),
    required=True,
    metavar="N",
    help="Raise an alert if a pattern occurs in this many sessions …",
)
@click.option(
    "--window",
    type=click.Choice(["day", "week", "month"]),
    required=True,
    help="… of one calendar day, week or month, in UTC.",
)
@kind
@click.option("--url", default="", metavar="URL", help="Also notify this URL (requires the scope admin).")
@options.as_json
def add_rule(*, sessions: int, window: str, kind: str | None, url: str) -> None:
    """Add a rule that raises an alert when a pattern recurs."""
    made = connected().patterns.add_rule(sessions, window, kind=kind, url=url)
    show(made, [f"Rule added: {_rule(made)}.", *facts([("id", made["id"])])])


@rule.command("list")
@options.as_json
def list_rules() -> None:
    """List the rules."""
    found = connected().patterns.rules()
    lines = [f"{each['id']}  {_rule(each)}" for each in found]
    none = ["No rules. Add one with `timemachine patterns rule add`."]
    show({"items": found, "next": None}, lines or none)


@rule.command("delete")
@click.argument("rule_id", metavar="ID")
@options.as_json
def delete_rule(*, rule_id: str) -> None:
    """Delete a rule and its alerts."""
    show(connected().patterns.delete_rule(rule_id), ["Rule deleted."])


def _listed(found: types.PatternPage) -> Iterator[str]:
    for each in found["items"]:
        yield from _pattern(each)
    if not found["items"]:
        yield "No error or question occurs in more than one session."
    if found["not_read"]:
        yield f"{counted(found['not_read'], 'step')} waiting to be analysed."
    suggest_next_page(found)


def _pattern(each: types.PatternOut) -> Iterator[str]:
    yield f"{each['kind']}  {shortened(each['text'], _TEXT)}"
    yield f"  {_often(each)}, last {_at(each['last_seen'])}, solved in {each['solved_sessions']:,}  {each['id']}"


def _details(found: types.PatternDetails) -> Iterator[str]:
    yield one_line(found["text"])
    yield from facts(
        [
            ("kind", found["kind"]),
            ("seen", _often(found)),
            ("first", _at(found["first_seen"])),
            ("last", _at(found["last_seen"])),
            ("solved in", counted(found["solved_sessions"], "session")),
            ("id", found["id"]),
        ]
    )
    for each in found["wordings"] if len(found["wordings"]) > 1 else ():
        yield f"  also  {shortened(each['text'], _TEXT)}  ({counted(each['steps'], 'step')})"
    yield ""
    for row in found["items"]:
        session = row["session"]
        yield f"{session['key']}  {one_line(session['name'])}"
        yield f"  {_steps(row)}{_undated(row['undated_steps'])}, last {_at(row['last_seen'])}"
        yield f"  {_resolution(row['resolution'])}"
    suggest_next_page(found)


def _often(found: types.PatternOut | types.PatternDetails) -> str:
    often = f"{counted(found['steps'], 'time')} in {counted(found['sessions'], 'session')}"
    return f"{often}{_undated(found['undated_steps'])}"


def _undated(steps: int) -> str:
    return f" ({steps:,} without a time)" if steps else ""


def _at(time: str | None) -> str:
    return local(time) or NOT_RECORDED


def _steps(row: types.PatternInSession) -> str:
    """`step 4`, `steps 1, 2, 9`, `steps 1, 2, … (31)`."""
    named = ", ".join(f"{each:,}" for each in row["sequences"][:_NAMED])
    more = f", … ({row['steps']:,})" if row["steps"] > _NAMED else ""
    return f"step{'s' if row['steps'] > 1 else ''} {named}{more}"


def _similar(found: types.SimilarPatterns) -> Iterator[str]:
    for each in found["items"]:
        like = "same wording" if each["like"] == "same" else "similar"
        yield f"{each['kind']}  {shortened(each['text'], _TEXT)}"
        yield f"  {like}, in {counted(each['other_sessions'], 'other session')}  {each['id']}"
        solved = each["resolution"]
        where = f" ({solved['session']['key']}: {shortened(solved['label'], 60)})" if solved else ""
        yield f"  {_resolution(solved)}{where}"
    if not found["items"]:
        yield "No similar pattern in other sessions."
    if found["not_read"]:
        yield f"{counted(found['not_read'], 'step')} waiting to be analysed."


def _resolution(found: types.ResolutionOut | None) -> str:
    return f"solved: {one_line(found['says'])}" if found else "not solved in this session's steps"


def _alerts(found: types.PatternAlerts) -> Iterator[str]:
    for each in found["items"]:
        seen_by = f", dismissed by {one_line(each['seen_by'] or '')}" if each["seen_at"] else ""
        problem = f", notification failed: {one_line(each['problem'])}" if each["problem"] else ""
        yield f"{shortened(each['pattern']['text'], _TEXT)}"
        yield f"  in {counted(each['sessions'], 'session')} of the {each['rule']['window']} from {each['since'][:10]}{seen_by}{problem}  {each['id']}"
    if not found["items"]:
        yield "No alerts."
    suggest_next_page(found)


def _rule(found: types.PatternRuleOut) -> str:
    what = f"{found['kind']}s" if found["kind"] else "errors and questions"
    url = f", notifies {one_line(found['url'])}" if found["url"] else ""
    return f"{what} in {found['sessions']:,} sessions of a {found['window']}{url}"
