"""`session replay`: launch a replay, wait for it, show every step, and decide the exit code."""

import os
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.commands import comparisons
from timemachine.cli.connecting import connected
from timemachine.cli.failure import ConditionHeld, Failure, Interrupted
from timemachine.cli.formatting import one_line
from timemachine.cli.group import OneEach
from timemachine.cli.output.estimates import tell_estimate
from timemachine.cli.output.replay_step import step_lines
from timemachine.cli.reason import reason_given
from timemachine.cli.terminal import Progress, complain, judged, show
from timemachine.cli.times import local
from timemachine.core.pure.conditions import Condition, reasons_to_fail
from timemachine.core.pure.numbers import counted, total_cost

if TYPE_CHECKING:
    from timemachine.client.client import Client


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """How what came of it is shown."""

    with_diff: bool
    verbose: bool
    web: bool
    as_json: bool


_PATIENCE = 20.0  # seconds in the queue before a word about the worker


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option(
    "--audit", is_flag=True, help="Over the frozen context of the recording; without it retrieval runs again."
)
@click.option("--reason", metavar="TEXT", help="Why an audit is made; it is kept with the replay.")
@click.option(
    "--use-model",
    "use_models",
    multiple=True,
    metavar="M",
    help="Ask this model instead, as provider:model; several make a comparison.",
)
@click.option("--diff", "with_diff", is_flag=True, help="Show word by word what differs between the answers.")
@options.of_replay
@click.option(
    "--from-checkpoint", metavar="C", help="Only what came after this checkpoint (its step or its name)."
)
@click.option(
    "--spend-limit",
    "spend_limit_usd",
    type=float,
    metavar="USD",
    help="A call starts only where what it is expected to cost fits in.",
)
@click.option(
    "--fail-on",
    "conditions",
    multiple=True,
    type=options.ConditionType(),
    metavar="CONDITION",
    help="Exit with 3 where this holds: altered, missing, error, a verdict like numbers_differ, or cost:USD.",
)
@click.option(
    "--verbose", is_flag=True, help="Show hits with their scores, the rule that cut, and what calls cost."
)
@click.option("--web", is_flag=True, help="Print the address of the replay's page, and open it.")
@options.as_json
def replay(
    *,
    session: str,
    mode: str | None,
    adaptive: bool,
    audit: bool,
    reason: str | None,
    with_diff: bool,
    conditions: tuple[Condition, ...],
    verbose: bool,
    web: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Replay a session and wait for it.

    With --audit over the frozen context of the recording, and with --use-model by another model; without --audit retrieval
    runs again. Several --use-model make a comparison over the frozen context. It exits with 3 where a --fail-on condition holds.
    """
    from timemachine.client.resources.replays import ReplayOptions

    audit = audit or len(asked["use_models"]) > 1
    chosen = ReplayOptions(
        audit=audit,
        reason=reason_given(reason) if audit else reason,
        search_mode=mode,
        adaptive=adaptive or None,
        **asked,
    )
    with connected() as client:
        if not as_json:
            tell_estimate(client.replays.estimate(session, chosen))
        launched = client.replays.launch(session, chosen)
        if "comparison_id" in launched:
            told = _Told(with_diff=with_diff, verbose=verbose, web=web, as_json=as_json)
            _compared(client, launched, conditions, told)
            return
        address = f"{client.url}/replays/{launched['replay_id']}/"
        done = _waited(client, launched["replay_id"], address)
        lines = _lines(client, done, address if web else None, with_diff=with_diff, verbose=verbose)
        with judged(lambda: _check(done, conditions)):
            show(done, lines, as_json=as_json)
            if web:
                _open(address)


def _compared(
    client: "Client", launched: dict[str, Any], conditions: Sequence[Condition], told: "_Told"
) -> None:
    """Wait for a comparison and show it; with `--diff` or `--verbose` every step of every model before."""
    done = comparisons.waited(client, launched["comparison_id"])
    replays = [client.replays.get(each) for each in launched["replay_ids"]]
    address = comparisons.address_of(client, done["id"])
    with judged(lambda: comparisons.check(done, replays, conditions)):
        show(done, _compared_lines(client, done, replays, told), as_json=told.as_json)
        if told.web:
            _open(address)


def _compared_lines(
    client: "Client", done: dict[str, Any], replays: Sequence[dict[str, Any]], told: "_Told"
) -> Iterator[str]:
    if told.with_diff or told.verbose:
        for replay in replays:
            yield from _lines(client, replay, None, with_diff=told.with_diff, verbose=told.verbose)
            yield ""
    yield from comparisons.lines(done, comparisons.address_of(client, done["id"]))


def result_of(client: "Client", replay_id: str, *, with_diff: bool, as_json: bool) -> None:
    """Wait for a replay and show what it came to; a replay that failed ends as a failure."""
    done = _waited(client, replay_id, f"{client.url}/replays/{replay_id}/")
    with judged(lambda: _check(done, ())):
        show(done, _lines(client, done, None, with_diff=with_diff, verbose=False), as_json=as_json)


def _waited(client: "Client", replay_id: str, address: str) -> dict[str, Any]:
    try:
        with Progress() as progress:
            return client.replays.wait(replay_id, _teller(progress))
    except KeyboardInterrupt as why:
        raise Interrupted(f"The replay goes on; follow it, or cancel it, at {address}") from why


def _teller(progress: Progress) -> Callable[[dict[str, Any]], None]:
    """What is told at every look: how far the replay is, and once, that nobody seems to work on it."""
    hurry = {"at": time.monotonic() + _PATIENCE}

    def tell(found: dict[str, Any]) -> None:
        steps = found["steps"]
        over = sum(number for name, number in steps.items() if name != "total")
        spent = total_cost(found["cost_usd"], found["unknown_cost_calls"])
        waiting = found.get("waiting") or {"calls": 0}
        if waiting["calls"]:
            spent += f"; {counted(waiting['calls'], 'busy call')} asked again by {local(waiting['until'])}"
        progress.tell(f"{found['status']}: {over:,} of {counted(steps['total'], 'step')}, {spent}")
        if found["status"] == "queued" and time.monotonic() > hurry["at"]:
            hurry["at"] = float("inf")
            complain(
                f"Still queued after {_PATIENCE:.0f} s: see that a worker runs. Ctrl-C stops waiting, not the replay."
            )

    return tell


def _lines(
    client: "Client", done: dict[str, Any], address: str | None, *, with_diff: bool, verbose: bool
) -> Iterator[str]:
    for step in client.replays.steps(done["id"]):
        recorded = client.sessions.action(done["session"], step["sequence"]) if verbose else None
        yield from step_lines(step, done, recorded, with_diff=with_diff)
        yield ""
    yield f"Replay {done['id']} is {done['status']}: {one_line(done['summary'])}"
    if address:
        yield address


def _check(done: dict[str, Any], conditions: Sequence[Condition]) -> None:
    reasons = reasons_to_fail(conditions, done)
    if reasons:
        raise ConditionHeld(f"--fail-on: {'; '.join(reasons)}.")
    if done["status"] == "cancelled":
        raise Failure("The replay was cancelled before it was through; launch it again for all of its steps.")
    if done["status"] != "done":
        raise Failure("Every step of the replay failed; what each says is above, and on its page.")


def _open(address: str) -> None:
    """Open the page where somebody sits in front of a screen; a text browser would take over the terminal."""
    screen = (
        sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if screen and sys.stdout is not None and sys.stdout.isatty():
        webbrowser.open(address)
