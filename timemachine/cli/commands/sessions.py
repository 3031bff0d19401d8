"""`session`: start, end, look at, delete, set a checkpoint, resume, import, export."""

import json
from collections.abc import Iterator, Sequence
from os import SEEK_END
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.commands.branches import branches, went_on_from
from timemachine.cli.commands.compare import compare
from timemachine.cli.commands.deleting import delete
from timemachine.cli.commands.erasing import erase
from timemachine.cli.commands.exporting import export
from timemachine.cli.commands.frame_ranks import where
from timemachine.cli.commands.holding import hold, holds, release
from timemachine.cli.commands.judging import judge
from timemachine.cli.commands.notes import note, notes
from timemachine.cli.commands.replays import replay
from timemachine.cli.commands.significance import compress, proposals, summarise, weigh
from timemachine.cli.commands.sweeps import sweep
from timemachine.cli.commands.totals import totals
from timemachine.cli.commands.transcripts import transcript
from timemachine.cli.commands.trials import trial
from timemachine.cli.connecting import connected, meant_session
from timemachine.cli.failure import Failure, Unreadable
from timemachine.cli.formatting import duration, one_line, shortened, tokens
from timemachine.cli.group import InOrder
from timemachine.cli.output.imports import (
    AT_ONCE_BYTES,
    how_far,
    import_document,
    import_lines,
    import_outcome,
)
from timemachine.cli.output.table import facts, table
from timemachine.cli.output.timeline import action_lines
from timemachine.cli.paging import tell_more
from timemachine.cli.source import opened, shown_name
from timemachine.cli.terminal import Progress, say, say_all, show
from timemachine.cli.times import local
from timemachine.client.errors import ClientError, NoServer, Unreachable
from timemachine.core.pure.numbers import NOT_RECORDED, counted, saved, spaced, total_cost

if TYPE_CHECKING:
    from timemachine.client.client import Client


@click.group(cls=InOrder)
def session() -> None:
    """Record, look at, import, export and replay sessions."""


@session.command()
@click.argument("collection")
@click.option("--name", required=True, metavar="N", help="What people call it.")
@click.option("--agent", metavar="A", help="The agent whose session it is.")
@click.option("--key", metavar="K", help="An id of your own, unique in the project.")
@options.as_json
def start(*, collection: str, name: str, agent: str | None, key: str | None, as_json: bool) -> None:
    """Start a session that records into a collection."""
    with connected() as client:
        begun = client.sessions.start(collection=collection, name=name, agent=agent, key=key)
        show(begun, _begun_lines(begun), as_json=as_json)


@session.command()
@options.session_argument
@options.as_json
def end(*, session: str | None, as_json: bool) -> None:
    """End a session.

    It ends the one named, or the one that is open.
    """
    with connected() as client:
        ended = client.sessions.end(meant_session(client, session))
        recorded = counted(ended["actions"], "action")
        show(ended, [f"Session {ended['key']} has ended: {recorded} recorded."], as_json=as_json)


@session.command()
@options.as_json
def status(*, as_json: bool) -> None:
    """Say which sessions are open."""
    with connected() as client:
        found = client.sessions.page(status="recording")
        none = "No session is open; start one with `timemachine session start`."
        again = ["session", "list", "--status", "recording"]
        show(found, _listed(found, none, again), as_json=as_json)


@session.command("list")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, metavar="N")
@click.option("--after", metavar="PLACE", help="Go on from where the page before ended.")
@click.option("-q", "--query", "q", metavar="Q", help="In names, keys and what was said.")
@click.option("--status", type=click.Choice(["recording", "ended"]), help="Only those.")
@click.option("--agent", metavar="AGENT", help="Only of this agent.")
@click.option("--user", metavar="USER", help="Only of this user.")
@click.option("--tag", metavar="TAG", help="Only with this tag.")
@click.option("--kind", metavar="KIND", help="Only with a step of this kind.")
@click.option("--tool", metavar="TOOL", help="Only with a call of this tool.")
@click.option("--model", metavar="M", help="Only with a call of this model.")
@click.option("--since", metavar="WHEN", help="Only started from then on: RFC 3339, or a date.")
@click.option("--until", metavar="WHEN", help="Only started until then: RFC 3339, or a date.")
@click.option("--min-cost", type=float, metavar="USD", help="Only what cost as much or more.")
@click.option("--held", flag_value="yes", help="Only under legal hold.")
@options.as_json
def list_(*, limit: int, after: str | None, as_json: bool, **wanted: Any) -> None:
    """List the sessions, newest first; of several conditions all hold."""
    with connected() as client:
        found = client.sessions.page(limit=limit, after=after, **wanted)
        none = "No session matches." if any(wanted.values()) else "There is no session yet."
        show(found, _listed(found, none), as_json=as_json)


@session.command()
@click.argument("session", metavar="ID")
@options.as_json
def view(*, session: str, as_json: bool) -> None:
    """Show a session step by step.

    --json prints the session without its steps.
    """
    with connected() as client:
        found = client.sessions.get(session)
        if as_json:
            show(found, (), as_json=True)
            return
        say_all(_session_facts(found, client.sessions.summary(session)))
        if found["actions"]:
            say("")
            say_all(action_lines(client.sessions.actions(session), last=found["actions"]))


@session.command()
@options.session_argument
@click.option("--name", required=True, metavar="N", help="What the checkpoint is called.")
@options.as_json
def checkpoint(*, session: str | None, name: str, as_json: bool) -> None:
    """Set a checkpoint.

    It is set in the session named, or in the one that is open.
    """
    with connected() as client:
        made = client.sessions.checkpoint(meant_session(client, session), name=name)
        show(made, [f"Checkpoint {one_line(made['name'])} is step {made['sequence']:,}."], as_json=as_json)


@session.command()
@click.argument("session", metavar="ID")
@click.option("--checkpoint", metavar="C", help="Its name or its step; the last one without.")
@options.as_json
def resume(*, session: str, checkpoint: str | None, as_json: bool) -> None:
    """Show what the agent knew at a checkpoint.

    Messages and results are shortened; --json prints all of it, as an agent takes it to go on.
    """
    with connected() as client:
        found = client.sessions.resume(session, checkpoint=checkpoint)
        show(found, _state_facts(found), as_json=as_json)


@session.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--format", "format_name", metavar="F", help="Whose format it is; without it the content says so."
)
@options.as_json
def import_(*, files: tuple[str, ...], format_name: str | None, as_json: bool) -> None:
    """Import recordings of other tools.

    The same file again adds nothing; one that has grown adds what is new. A file that is refused keeps no other from being imported.
    """
    done: list[tuple[str, dict[str, Any]]] = []
    refused: dict[str, ClientError] = {}
    with connected() as client, Progress() as progress:
        for number, file in enumerate(files, start=1):
            progress.tell(f"importing {shown_name(file)} ({number} of {len(files)})")
            try:
                done.append((file, _imported(client, file, format_name, progress)))
            except (NoServer, Unreachable) as why:
                raise Failure(f"{shown_name(file)}: {why.message}{_before(len(done))}") from why
            except Unreadable as why:
                refused[file] = ClientError(f"It cannot be read ({why.why}).", code="unreadable")
            except ClientError as why:
                refused[file] = why
    if done:
        show(import_document(done, refused, several=len(files) > 1), import_lines(done), as_json=as_json)
    if refused:
        raise Failure(" ".join(f"{shown_name(file)}: {why.message}" for file, why in refused.items()))


session.add_command(export)
session.add_command(delete)
session.add_command(erase)
session.add_command(hold)
session.add_command(release)
session.add_command(holds)
session.add_command(transcript)
session.add_command(weigh)
session.add_command(proposals)
session.add_command(compress)
session.add_command(summarise)
session.add_command(totals)
session.add_command(branches)
session.add_command(compare)
session.add_command(judge)
session.add_command(replay)
session.add_command(trial)
session.add_command(where)
session.add_command(sweep)
session.add_command(note)
session.add_command(notes)


def _imported(client: "Client", file: str, format_name: str | None, progress: Progress) -> dict[str, Any]:
    with opened(file) as data:
        size = data.seek(0, SEEK_END)
        if not size:
            raise ClientError("It is empty; there is nothing to import.", code="empty_file")
        name = file.rpartition("/")[2]
        later = size > AT_ONCE_BYTES
        begun = client.import_file(data, filename=name, format_name=format_name, later=later)
    if "import_id" not in begun:
        return begun
    over = client.wait_for_import(
        begun["import_id"], lambda found: progress.tell(how_far(shown_name(file), found))
    )
    return import_outcome(over)


def _before(imported: int) -> str:
    """What of several files was imported, where the rest cannot be."""
    if not imported:
        return ""
    return f" ({counted(imported, 'file')} before it {'was' if imported == 1 else 'were'} imported.)"


def _begun_lines(begun: dict[str, Any]) -> Iterator[str]:
    yield f"Session {begun['key']} records into {one_line(begun['collection'] or 'no collection')}."
    yield from facts([("id", begun["id"]), ("address", begun["url"])])
    yield f"End it with: timemachine session end {begun['key']}"


def _listed(found: dict[str, Any], none: str, command: Sequence[str] = ()) -> Iterator[str]:
    if not found["items"]:
        yield none
        return
    heads = ["key", "name", "agent", "status", "started", "actions", "errors", "cost"]
    rows = [_row(each) for each in found["items"]]
    yield from table(heads, rows, right=("actions", "errors", "cost"))
    tell_more(found, command=command)


def _row(found: dict[str, Any]) -> list[str]:
    return [
        found["key"],
        shortened(found["name"], 40),
        shortened(found["agent"] or "", 20),
        found["status"],
        local(found["started_at"]) or NOT_RECORDED,
        f"{found['actions']:,}",
        f"{found['errors']:,}",
        total_cost(found["cost_usd"], found["unknown_cost_calls"]),
    ]


def _state_facts(found: dict[str, Any]) -> Iterator[str]:
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
                (spaced(name), NOT_RECORDED if each is None else shortened(_said(each)))
                for name, each in values.items()
            ),
            ("more", ", ".join(sorted(found["more"]))),
        ]
    )


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _session_facts(found: dict[str, Any], summary: dict[str, Any]) -> Iterator[str]:
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
            ("went on from", went_on_from(found)),
            ("tags", ", ".join(found["tags"])),
            ("started", local(found["started_at"]) or NOT_RECORDED),
            ("ended", _ended(found)),
            ("duration", _time(summary["duration_ms"])),
            ("actions", f"{found['actions']:,}, {counted(found['errors'], 'error')}"),
            ("first to last step", _time(summary["steps_ms"])),
            ("models", _named(summary["models"])),
            ("tools", _named(summary["tools"])),
            ("iteration", f"{summary['max_iteration']:,} at most" if summary["max_iteration"] else ""),
            ("tokens", _tokens(found)),
            ("cost", total_cost(found["cost_usd"], found["unknown_cost_calls"])),
            ("judging", _judging(summary["judgements"])),
            ("notes", f"{summary['notes']:,}" if summary["notes"] else ""),
            ("cache", _saved(found)),
            ("address", found["url"]),
        ]
    )


def _ended(found: dict[str, Any]) -> str:
    """When it ended; empty while it records."""
    return local(found["ended_at"]) or (NOT_RECORDED if found["status"] == "ended" else "")


def _time(milliseconds: float | None) -> str:
    """How long it took; empty where that is not recorded."""
    return "" if milliseconds is None else duration(milliseconds)


def _named(counts: dict[str, int]) -> str:
    """Each with how often it was called, the most called first."""
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name} × {count:,}" for name, count in ordered)


def _judging(judged: dict[str, Any]) -> str:
    """What was spent on judging the session's answers, which is not in its cost; empty where nobody judged any."""
    if not judged["count"]:
        return ""
    spent = total_cost(judged["cost_usd"], judged["unknown_cost_calls"])
    return f"{spent} for {counted(judged['count'], 'judgement')}"


def _saved(found: dict[str, Any]) -> str:
    """What the answer cache saved; empty where no answer came from it."""
    if not found["cached_calls"]:
        return ""
    return f"{counted(found['cached_calls'], 'answer')}, saved {saved(found['saved_usd'], found['unknown_saved_calls'])}"


def _tokens(found: dict[str, Any]) -> str:
    """The sums of what was recorded."""
    counts = (found["input_tokens"], found["output_tokens"])
    return NOT_RECORDED if counts == (None, None) else tokens(found)
