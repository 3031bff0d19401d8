"""`session delete`: one session, turns of it, or all that fit a filter."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.commands.erasing import may_quote, waited
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure, Interrupted
from timemachine.cli.formatting import shortened
from timemachine.cli.group import OneEach
from timemachine.cli.question import confirmed
from timemachine.cli.session_filters import given_of, told, which_options
from timemachine.cli.terminal import Progress, complain, show
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client

_KEPT = "Nothing was deleted; answer yes, or say --yes."


@click.command(cls=OneEach)
@click.argument("session", metavar="[ID]", required=False)
@click.option(
    "--step", "steps", multiple=True, type=click.IntRange(min=1), metavar="N", help="Only this turn of it."
)
@which_options
@click.option("--reason", metavar="TEXT", help="Why; it stays in the project's log.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and delete nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
def delete(
    *,
    session: str | None,
    steps: tuple[int, ...],
    reason: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Delete a session, turns of it, or all sessions that fit a filter, after asking.

    Actions, notes, replays, judgements and share links go with them; there is no way back. What is under legal hold stays. Turns
    and filters need a reason.
    """
    which = given_of(asked)
    if (session is None) == (not which) or (steps and session is None):
        raise click.UsageError("Give either the ID of a session, or a filter like --tag or --older-than.")
    with connected() as client:
        if session is None:
            _in_bulk(client, which, reason, dry_run=dry_run, yes=yes, as_json=as_json)
        elif dry_run:
            _would_go(client, session, steps, as_json=as_json)
        elif steps:
            _turns(client, session, steps, reason, yes=yes, as_json=as_json)
        else:
            _whole(client, session, reason, yes=yes, as_json=as_json)


def _would_go(client: "Client", session: str, steps: tuple[int, ...], *, as_json: bool) -> None:
    found = [client.forgetting.of_session(session, step) for step in dict.fromkeys(steps or (None,))]
    seen = found[0] | {"turns": sum(each["turns"] for each in found)}
    what = counted(seen["turns"], "turn")
    if not steps:
        what = f"{counted(seen['sessions'], 'session')} with {what}"
    held = "; it is under legal hold, and stays" if seen["held"] else ""
    show(seen, [f"{what} of {session}{held}." if steps else f"{what}{held}."], as_json=as_json)


def _whole(client: "Client", session: str, reason: str | None, *, yes: bool, as_json: bool) -> None:
    found = client.sessions.get(session)
    what = f"Delete the session {found['key']} ({shortened(found['name'])}) with {counted(found['actions'], 'action')}"
    if not yes:
        for line in _branches(client, found["id"]):
            complain(line)
        if not confirmed(f"{what}, its notes, replays, judgements and share links, for good?"):
            raise Failure(_KEPT)
    gone = client.sessions.delete(found["id"], reason=reason)
    lines = [f"Session {found['key']} is deleted with {counted(gone['actions'], 'action')}."]
    if gone["branches"]:
        lines.append(
            f"{counted(gone['branches'], 'session')} went on from it, and stay{'s' * (gone['branches'] == 1)}."
        )
    lines += [
        f"A summary of it stays in the collection {each['collection']}, frame {each['frame']:,}."
        for each in gone["summaries"]
    ]
    show(gone, lines, as_json=as_json)


def _branches(client: "Client", session: str) -> Iterator[str]:
    family = client.sessions.branches(session)["items"]
    number = sum(1 for each in family if each["parent"] and each["parent"]["session"] == session)
    if number:
        yield (
            f"{counted(number, 'session')} went on from it and stay{'s' * (number == 1)}, without it: "
            "from then on only the step is told from which that was."
        )


def _turns(
    client: "Client", session: str, steps: tuple[int, ...], reason: str | None, *, yes: bool, as_json: bool
) -> None:
    reason = _needed(reason)
    names = ", ".join(f"{step:,}" for step in steps)
    what = f"Delete what turn {names} of {session} says, and what repeats it, for good?"
    if not yes and not confirmed(what):
        raise Failure(_KEPT)
    done = []
    for step in steps:
        found = waited(client, client.forgetting.turn(session, step, reason=reason))
        if found["problem"]:
            raise Failure(found["problem"])
        done.append(found)
    lines = [line for step, found in zip(steps, done, strict=True) for line in _deleted(step, found)]
    show(done[0] if len(done) == 1 else {"items": done}, lines, as_json=as_json)


def _deleted(step: int, found: dict[str, Any]) -> Iterator[str]:
    result: dict[str, Any] = found["result"] or {"steps": 1}
    others = result["steps"] - 1
    repeated = f" {counted(others, 'other turn')} repeated it and lost those words." if others > 0 else ""
    yield f"Turn {step:,} is deleted; a tombstone stands in its place.{repeated}"
    yield from may_quote(result)


def _in_bulk(
    client: "Client", which: dict[str, Any], reason: str | None, *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    reason = None if dry_run else _needed(reason)
    found = client.forgetting.prepare(**which)
    if reason is None or not found["sessions"]:
        client.forgetting.cancel(found["id"])
        show(found, _preview(found), as_json=as_json)
        return
    if not yes:
        for line in _preview(found):
            complain(line)
        if not confirmed("Delete them for good?"):
            client.forgetting.cancel(found["id"])
            raise Failure(_KEPT)
    done = _followed(client, client.forgetting.confirm(found["id"], reason=reason))
    show(done, outcome(done), as_json=as_json)


def _followed(client: "Client", begun: dict[str, Any]) -> dict[str, Any]:
    def tell(found: dict[str, Any]) -> None:
        over = found["sessions"] - found["states"].get("waiting", 0)
        progress.tell(f"{over:,} of {counted(found['sessions'], 'session')}")

    try:
        with Progress() as progress:
            return client.forgetting.wait(begun["id"], tell)
    except KeyboardInterrupt as why:
        raise Interrupted(f"It goes on; follow it at {client.url}/forgettings/{begun['id']}/") from why


def _needed(reason: str | None) -> str:
    if reason is None or not reason.strip():
        raise click.UsageError("Say why, with --reason; it stays in the project's log.")
    return reason


def _preview(found: dict[str, Any]) -> Iterator[str]:
    if not found["sessions"]:
        yield f"No session fits ({told(found['filter'])})."
        return
    held = f"; {found['held']:,} of them under legal hold, which stay" if found["held"] else ""
    yield f"{counted(found['sessions'], 'session')} with {counted(found['turns'], 'turn')} ({told(found['filter'])}){held}."
    if found["every"]:
        yield "These are all sessions of the project."
    if found["summarised"]:
        yield f"Of {found['summarised']:,} of them a summary stays in a collection."


def outcome(found: dict[str, Any]) -> Iterator[str]:
    """What became of the sessions of a deletion in bulk."""
    states = found["states"]
    yield f"{counted(states.get('erased', 0), 'session')} deleted with {counted(found['deleted_turns'], 'turn')}."
    words = {
        "held": "stayed under legal hold",
        "changed": "stayed, as the filter does not mean them any more",
        "gone": "were gone already",
        "failed": "could not be deleted",
        "waiting": "stayed, as it was called off",
    }
    for state, says in words.items():
        if states.get(state):
            yield f"{states[state]:,} {says}."
