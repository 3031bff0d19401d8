"""`session delete` and `session erase`: delete sessions and steps, or erase fields and what a redaction profile matches."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import shortened
from timemachine.cli.options import filter_options, filter_text, given_filters
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import confirm, show, waiting
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types

LONGEST: Final = 100
PAUSE: Final = 0.5  # seconds between two requests


@click.command(cls=OneEach)
@click.argument("session", metavar="[ID]", required=False)
@options.several("--step", "steps", type=click.IntRange(min=1), metavar="N", help="Delete only this step")
@filter_options
@click.option("--reason", metavar="TEXT", help="Why; stored in the project's log.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted and exit.")
@options.yes
@options.as_json
def delete(
    *,
    session: str | None,
    steps: tuple[int, ...],
    reason: str | None,
    dry_run: bool,
    **filters: Any,
) -> None:
    """Delete a session, steps of it, or all sessions that match a filter, after confirmation.

    This permanently deletes their steps, notes, replays, judgements and share links. Sessions under legal hold stay. Deleting steps
    or by filter requires a reason.
    """
    which = given_filters(filters)
    if (session is None) == (not which) or (steps and session is None):
        raise click.UsageError("Use either the ID of a session or a filter like --tag or --older-than.")
    client = connected()
    if session is None:
        _delete_matching(client, which, reason, dry_run=dry_run)
    elif dry_run:
        _preview_session(client, session, steps)
    elif steps:
        _delete_steps(client, session, steps, reason)
    else:
        _delete_session(client, session, reason)


def _preview_session(client: Client, session: str, steps: tuple[int, ...]) -> None:
    found = [client.deletions.of_session(session, step) for step in dict.fromkeys(steps or (None,))]
    seen = found[0] | {"turns": sum(each["turns"] for each in found)}
    what = counted(seen["turns"], "step")
    if not steps:
        what = f"{counted(seen['sessions'], 'session')} with {what}"
    held = "; not deleted, because it is under legal hold" if seen["held"] else ""
    show(seen, [f"{what} of {session}{held}." if steps else f"{what}{held}."])


def _delete_session(client: Client, session: str, reason: str | None) -> None:
    found = client.sessions.get(session)
    what = f"Delete the session {found['key']} ({shortened(found['name'])}) with {counted(found['actions'], 'action')}"
    confirm(
        f"{what}, notes, replays, judgements and share links permanently?", _branches(client, found["id"])
    )
    deleted = client.sessions.delete(found["id"], reason=reason)
    lines = [f"Session {found['key']} was deleted with {counted(deleted['actions'], 'action')}."]
    if deleted["branches"]:
        lines.append(f"{_its_branches(deleted['branches'])}.")
    lines += [
        f"A summary of it stays in the collection {each['collection']}, frame {each['frame']:,}."
        for each in deleted["summaries"]
    ]
    show(deleted, lines)


def _branches(client: Client, session: str) -> Iterator[str]:
    branches = client.sessions.branches(session)["items"]
    number = sum(1 for each in branches if each["parent"] and each["parent"]["session"] == session)
    if number:
        yield f"{_its_branches(number)}, without the session they branched from."


def _its_branches(number: int) -> str:
    return "Its branch stays" if number == 1 else f"Its {number:,} branches stay"


def _delete_steps(client: Client, session: str, steps: tuple[int, ...], reason: str | None) -> None:
    reason = _required(reason)
    names = ", ".join(f"{step:,}" for step in steps)
    confirm(f"Permanently delete the content of step {names} of {session}, and copies of it?")
    done = []
    for step in steps:
        found = waited(client, client.deletions.turn(session, step, reason=reason))
        if found["problem"]:
            raise Failure(found["problem"])
        done.append(found)
    lines = [line for step, found in zip(steps, done, strict=True) for line in _deleted(step, found)]
    show(done[0] if len(done) == 1 else {"items": done}, lines)


def _deleted(step: int, found: types.ErasureOut) -> Iterator[str]:
    result = found["result"]
    others = result["steps"] - 1 if result else 0
    repeated = f" The same text was erased in {counted(others, 'other step')}." if others > 0 else ""
    yield f"Step {step:,} was deleted. A tombstone replaces it.{repeated}"
    if result:
        yield from may_quote(result)


def _delete_matching(
    client: Client, which: types.SessionSelection, reason: str | None, *, dry_run: bool
) -> None:
    reason = None if dry_run else _required(reason)
    found = client.deletions.prepare(**which)
    if reason is None or not found["sessions"]:
        client.deletions.cancel(found["id"])
        show(found, _preview(found))
        return
    try:
        confirm("Permanently delete these sessions?", _preview(found))
    except Failure:
        client.deletions.cancel(found["id"])
        raise
    done = _followed(client, client.deletions.confirm(found["id"], reason=reason))
    show(done, outcome(done))


def _followed(client: Client, begun: types.DeletionOut) -> types.DeletionOut:
    def update(found: types.DeletionOut) -> None:
        finished = found["sessions"] - found["states"].get("waiting", 0)
        progress.update(f"{finished:,} of {counted(found['sessions'], 'session')}")

    address = f"{client.url}/forgettings/{begun['id']}/"
    with waiting(f"The deletion is still running. Follow it at {address}") as progress:
        return client.deletions.wait(begun["id"], update)


def _required(reason: str | None) -> str:
    if reason is None or not reason.strip():
        raise click.UsageError("Give a reason with --reason. It is stored in the project's log.")
    return reason


def _preview(found: types.DeletionOut) -> Iterator[str]:
    if not found["sessions"]:
        yield f"No session matches ({filter_text(found['filter'])})."
        return
    held = f"; {found['held']:,} of them under legal hold stay" if found["held"] else ""
    yield f"{counted(found['sessions'], 'session')} with {counted(found['turns'], 'step')} ({filter_text(found['filter'])}){held}."
    if found["every"]:
        yield "This is every session in the project."
    if found["summarised"]:
        yield f"Summaries of {found['summarised']:,} of them stay in a collection."


def outcome(found: types.DeletionOut) -> Iterator[str]:
    """The results of a bulk deletion."""
    states: Mapping[str, Any] = found["states"]
    yield f"{counted(states.get('erased', 0), 'session')} deleted with {counted(found['deleted_turns'], 'step')}."
    words = {
        "held": "under legal hold",
        "changed": "no longer matching",
        "gone": "already deleted",
        "failed": "failed",
        "waiting": "not deleted because it was cancelled",
    }
    for state, text in words.items():
        if states.get(state):
            yield f"{states[state]:,} {text}."


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option(
    "--redaction",
    metavar="PROFILE",
    help="Erase everything that this redaction profile (name or id) matches.",
)
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="PATH",
    help="Erase this field, for example output or session.user.",
)
@options.several("--step", "steps", type=click.IntRange(min=1), metavar="N", help="Only in this step")
@click.option(
    "--reason", metavar="TEXT", help="Why; stored in the project's log. Without it, only a preview is shown."
)
@options.yes
@options.as_json
def erase(
    *,
    session: str,
    redaction: str | None,
    fields: tuple[str, ...],
    steps: tuple[int, ...],
    reason: str | None,
) -> None:
    """Permanently erase fields of a session, or preview it.

    A tombstone in the project's log records who erased it, when and why.
    """
    if (redaction is None) == (not fields):
        raise click.UsageError("Use either --redaction or --field.")
    client = connected()
    found = waited(client, client.erasures.prepare(session, redaction=redaction, fields=fields, steps=steps))
    if reason is not None and not found["problem"]:
        _confirm(found)
        found = waited(client, client.erasures.confirm(found["id"], reason=reason))
    if found["problem"]:
        raise Failure(found["problem"])
    show(found, _erasure_lines(found))


def _confirm(found: types.ErasureOut) -> None:
    """Show the preview and ask, unless it is empty. Raises `Failure` if the answer is no."""
    preview = cast("types.ErasureCounts", found["preview"])
    parts = preview["steps"], preview["of_session"], preview["replay_steps"], preview["elsewhere"]
    if any(parts):
        confirm("Permanently erase this?", _erasure_lines(found), otherwise="Nothing was erased.")


def waited(client: Client, erasure: types.ErasureOut) -> types.ErasureOut:
    """Wait for the erasure and return it."""
    while erasure["status"] in ("looking", "erasing"):
        time.sleep(PAUSE)
        erasure = client.erasures.get(erasure["id"])
    return erasure


def _steps(effect: types.ErasureCounts) -> str:
    """The number of affected steps, and the first of them."""
    first = effect["first_steps"]
    more = ", …" if effect["steps"] > len(first) else ""
    return f"{effect['steps']:,}" + (f": {', '.join(map(str, first))}{more}" if first else "")


def _place(line: types.ErasedPlace) -> str:
    step = "session" if line["sequence"] is None else f"step {line['sequence']:,}"
    return shortened(f"{step}, {line['field']}", LONGEST)


def _erasure_lines(found: types.ErasureOut) -> Iterator[str]:
    done = found["status"] == "done"
    effect = cast("types.ErasureCounts", found["result"] or found["preview"])
    yield (
        f"Permanently erased by {found['confirmed_by']}." if done else "Preview. Add --reason to erase this:"
    )
    has_copies = bool(found["steps"]) and effect["steps"] > len(found["steps"])
    counts = [(f"step field {each['field']}", f"{each['count']:,}") for each in effect["of_steps"]]
    counts += [(f"{each['rule']} ({each['what']})", f"{each['count']:,}") for each in effect["counts"]]
    counts += [(each["place"], f"{each['count']:,}") for each in effect["elsewhere"]]
    yield from facts(
        [
            ("steps", _steps(effect)),
            ("copies", "the same text in other steps is erased too" if has_copies else ""),
            ("of the session", ", ".join(effect["of_session"]) or "nothing"),
            ("steps of replays", f"{effect['replay_steps']:,}"),
            ("fields of the session", f"{effect['fields_of']['session']:,}"),
            ("fields of its replays", f"{effect['fields_of']['replays']:,}"),
            *counts,
            ("search", "these steps are indexed again"),
        ]
    )
    if found.get("first"):
        yield "First matches, as they would appear:"
        yield from facts([(_place(each), shortened(each["text"], LONGEST)) for each in found["first"]])
    if effect["collections"]:
        yield f"Not changed: the collections {', '.join(effect['collections'])}, which contain passages from it."
    yield from may_quote(effect)
    if effect["kept_by_others"]:
        yield f"{effect['kept_by_others']:,} of the texts stay because other records also use them."


def may_quote(effect: types.ErasureCounts) -> Iterator[str]:
    """The summaries that stay and may quote what was erased."""
    for each in effect["summaries"]:
        yield f"A summary that may quote it stays in the collection {each['collection']}, frame {each['frame']:,}."
