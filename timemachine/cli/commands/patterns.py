"""`patterns`: the same error or question in several sessions, what solved it, and the rules that watch for it."""

from collections.abc import Iterator
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.formatting import one_line, shortened
from timemachine.cli.group import InOrder
from timemachine.cli.output.table import facts
from timemachine.cli.paging import tell_more
from timemachine.cli.terminal import show
from timemachine.cli.times import local
from timemachine.core.pure.numbers import counted

_TEXT = 100
_NAMED = 12
kind = click.option("--kind", type=click.Choice(["error", "question"]), help="Only errors, or questions.")
limit = click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, metavar="N")
after = click.option("--after", metavar="PLACE", help="Go on from where the page before ended.")


@click.group(cls=InOrder)
def patterns() -> None:
    """The same error or question in several sessions, and what solved it."""


@patterns.command("list")
@kind
@click.option("--query", "q", metavar="TEXT", help="Only those with these characters in a wording.")
@click.option("--since", metavar="WHEN", help="Only those seen since then: RFC 3339, or a date.")
@click.option(
    "--solved/--unsolved", default=None, help="Only those that were solved in a session, or in none."
)
@click.option("--min-sessions", type=click.IntRange(min=1), metavar="N", help="From so many sessions on (2).")
@limit
@after
@options.as_json
def list_patterns(*, solved: bool | None, as_json: bool, **wanted: Any) -> None:
    """List patterns, the one that was seen last first."""
    word = None if solved is None else "yes" if solved else "no"
    with connected() as client:
        found = client.patterns.page(solved=word, **wanted)
        show(found, _listed(found), as_json=as_json)


@patterns.command()
@click.argument("pattern", metavar="ID")
@limit
@after
@options.as_json
def view(*, pattern: str, limit: int, after: str | None, as_json: bool) -> None:
    """Show a pattern: its wordings, its sessions, and what solved it in each."""
    with connected() as client:
        found = client.patterns.get(pattern, limit=limit, after=after)
        show(found, _whole(found), as_json=as_json)


@patterns.command()
@click.argument("place", metavar="[SESSION:STEP]", required=False)
@click.option("--text", metavar="TEXT", help="Ask about a text instead: an error message, or a question.")
@kind
@options.as_json
def similar(*, place: str | None, text: str | None, kind: str | None, as_json: bool) -> None:
    """Say which patterns a step, or a text, is like, and what solved them elsewhere."""
    if (place is None) == (text is None):
        raise click.UsageError("Give SESSION:STEP, or --text TEXT.")
    with connected() as client:
        found = client.patterns.similar(place, text=text, kind=kind)
        show(found, _similar(found), as_json=as_json)


@patterns.command()
@limit
@after
@options.as_json
def alerts(*, limit: int, after: str | None, as_json: bool) -> None:
    """List what the rules found, the latest first."""
    with connected() as client:
        found = client.patterns.alerts(limit=limit, after=after)
        show(found, _alerts(found), as_json=as_json)


@patterns.command()
@click.argument("alert", metavar="ID")
@options.as_json
def seen(*, alert: str, as_json: bool) -> None:
    """Put an alert aside: it is no mark in the navigation any more."""
    with connected() as client:
        found = client.patterns.put_aside(alert)
        show(found, [f"Seen by {one_line(found['seen_by'])}."], as_json=as_json)


@patterns.group(cls=InOrder)
def rule() -> None:
    """Rules by which a pattern is worth telling."""


@rule.command("add")
@click.option(
    "--sessions",
    type=click.IntRange(2, 1_000),
    required=True,
    metavar="N",
    help="Again in so many sessions …",
)
@click.option(
    "--window", type=click.Choice(["day", "week", "month"]), required=True, help="… of one of these, in UTC."
)
@kind
@click.option("--url", default="", metavar="URL", help="Also tell this address; needs a key with `admin`.")
@options.as_json
def add_rule(*, sessions: int, window: str, kind: str | None, url: str, as_json: bool) -> None:
    """Watch for patterns that come again."""
    with connected() as client:
        made = client.patterns.add_rule(sessions, window, kind=kind, url=url)
        show(made, [f"Watching for {_rule(made)}.", *facts([("id", made["id"])])], as_json=as_json)


@rule.command("list")
@options.as_json
def list_rules(*, as_json: bool) -> None:
    """List the rules."""
    with connected() as client:
        found = client.patterns.rules()
        lines = [f"{each['id']}  {_rule(each)}" for each in found]
        none = ["There is no rule; make one with `timemachine patterns rule add`."]
        show({"items": found, "next": None}, lines or none, as_json=as_json)


@rule.command("delete")
@click.argument("rule_id", metavar="ID")
@options.as_json
def delete_rule(*, rule_id: str, as_json: bool) -> None:
    """Delete a rule, with what it found."""
    with connected() as client:
        show(client.patterns.delete_rule(rule_id), ["The rule is deleted."], as_json=as_json)


def _listed(found: dict[str, Any]) -> Iterator[str]:
    for each in found["items"]:
        yield from _pattern(each)
    if not found["items"]:
        yield "No error and no question came in more sessions than one."
    if found["not_read"]:
        yield f"{counted(found['not_read'], 'step')} still to be read, which no pattern has yet."
    tell_more(found)


def _pattern(each: dict[str, Any]) -> Iterator[str]:
    often = f"{counted(each['steps'], 'time')} in {counted(each['sessions'], 'session')}"
    yield f"{each['kind']}  {shortened(each['text'], _TEXT)}"
    yield f"  {often}, last {local(each['last_seen'])}, solved in {each['solved_sessions']:,}  {each['id']}"


def _whole(found: dict[str, Any]) -> Iterator[str]:
    yield one_line(found["text"])
    yield from facts(
        [
            ("kind", found["kind"]),
            ("seen", f"{counted(found['steps'], 'time')} in {counted(found['sessions'], 'session')}"),
            ("first", local(found["first_seen"])),
            ("last", local(found["last_seen"])),
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
        yield f"  {_steps(row)}, last {local(row['last_seen'])}"
        yield f"  {_resolution(row['resolution'])}"
    tell_more(found)


def _steps(row: dict[str, Any]) -> str:
    """`step 4`, `steps 1, 2, 9`, `steps 1, 2, … (31)`."""
    named = ", ".join(f"{each:,}" for each in row["sequences"][:_NAMED])
    more = f", … ({row['steps']:,})" if row["steps"] > _NAMED else ""
    return f"step{'s' if row['steps'] > 1 else ''} {named}{more}"


def _similar(found: dict[str, Any]) -> Iterator[str]:
    for each in found["items"]:
        like = "the same wording" if each["like"] == "same" else "like it"
        yield f"{each['kind']}  {shortened(each['text'], _TEXT)}"
        yield f"  {like}, in {counted(each['other_sessions'], 'other session')}  {each['id']}"
        solved = each["resolution"]
        where = f" ({solved['session']['key']}: {shortened(solved['label'], 60)})" if solved else ""
        yield f"  {_resolution(solved)}{where}"
    if not found["items"]:
        yield "No other session has anything like it."
    if found["not_read"]:
        yield f"{counted(found['not_read'], 'step')} still to be read, which no pattern has yet."


def _resolution(found: dict[str, Any] | None) -> str:
    return f"solved: {one_line(found['says'])}" if found else "its steps show nothing that solved it"


def _alerts(found: dict[str, Any]) -> Iterator[str]:
    for each in found["items"]:
        seen_by = f", seen by {one_line(each['seen_by'])}" if each["seen_at"] else ""
        problem = f", its address was not told: {one_line(each['problem'])}" if each["problem"] else ""
        yield f"{shortened(each['pattern']['text'], _TEXT)}"
        yield f"  in {counted(each['sessions'], 'session')} of the {each['rule']['window']} from {each['since'][:10]}{seen_by}{problem}  {each['id']}"
    if not found["items"]:
        yield "No rule has found anything."
    tell_more(found)


def _rule(found: dict[str, Any]) -> str:
    what = f"{found['kind']}s" if found["kind"] else "errors and questions"
    url = f", told to {one_line(found['url'])}" if found["url"] else ""
    return f"{what} in {found['sessions']:,} sessions of a {found['window']}{url}"
