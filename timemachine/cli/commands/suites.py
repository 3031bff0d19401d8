"""`suite`: a named set of sessions to replay regularly, and what changed since the last run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder
from timemachine.cli.connection import connected
from timemachine.cli.failure import ConditionHeld, Failure
from timemachine.cli.formatting import one_line
from timemachine.cli.launching import print_estimate, reason_or_default, replay_progress
from timemachine.cli.output.suites import listed_runs, listed_suites, run_lines, suite_lines
from timemachine.cli.terminal import checked_when_shown, confirm, show, waiting, wants_json
from timemachine.core.pure.conditions import SUITE_NAMES, Condition, format_condition
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types
    from timemachine.core.pure.json_types import JsonObject

_CHANGED: Final = "changed"
_LATEST: Final = "latest"

name_argument = click.argument("suite_name", metavar="NAME")
number_argument = click.argument("number", metavar="[RUN]", default=_LATEST)
fail_on = options.fail_on(
    ": worse, new_failure, left_out, a verdict, altered, missing, error, cost:USD", SUITE_NAMES
)
_MATCHING = (
    click.option(
        "--match-tag",
        "tag",
        metavar="TAG",
        help="Also include the newest sessions with this tag at each run.",
    ),
    click.option(
        "--match-agent", "agent", metavar="A", help="Also include the newest sessions of this agent."
    ),
    click.option("--match-user", "user", metavar="U", help="Also include the newest sessions of this user."),
    click.option(
        "--match",
        "q",
        metavar="TEXT",
        help="Also include the newest sessions with this text in their name or key.",
    ),
    click.option("--most", type=int, metavar="N", help="Maximum number of matching sessions (default 20)."),
)
_MODELS_AND_TIME = (
    click.option(
        "--use-model",
        "use_models",
        multiple=True,
        metavar="M",
        help="Ask this model; repeat to replay each session with several.",
    ),
    fail_on,
    click.option(
        "--schedule",
        metavar="WHEN",
        help='"every 6 hours", "daily 07:30 Europe/Berlin" or "weekly monday 07:30 Europe/Berlin".',
    ),
)
_REPLAYING = (
    click.option(
        "--audit", is_flag=True, help="Use the frozen context; without this option, retrieval runs again."
    ),
    click.option("--reason", metavar="TEXT", help="Why; stored with every replay."),
    options.replay_options,
    options.spend_limit,
)


@click.group(cls=InOrder)
def suite() -> None:
    """Replay a set of sessions regularly and see what changed."""


@suite.command()
@name_argument
@click.argument("sessions", metavar="[SESSION…]", nargs=-1)
@options.combined(*_MATCHING, *_REPLAYING, *_MODELS_AND_TIME)
@options.as_json
def create(
    *,
    suite_name: str,
    sessions: tuple[str, ...],
    use_models: tuple[str, ...],
    fail_on: tuple[Condition, ...],
    schedule: str | None,
    **chosen: Any,
) -> None:
    """Create a suite: sessions, and how to replay them.

    Nothing runs yet. Start it with `suite run NAME` or give it a schedule.
    """
    if chosen["audit"]:
        chosen["reason"] = reason_or_default(chosen["reason"])
    matching = _matching(chosen)
    client = connected()
    made = client.suites.create(
        suite_name,
        sessions=sessions,
        matching=matching,
        options=_options(chosen),
        use_models=use_models,
        fail_on=[format_condition(each) for each in fail_on],
        schedule=schedule,
    )
    show(made, suite_lines(made, _page_url(client, made)))


@suite.command()
@name_argument
@click.option("--name", metavar="NEW", help="New name.")
@click.option("--session", "sessions", multiple=True, metavar="ID", help="Replace the sessions.")
@options.combined(*_MATCHING, *_REPLAYING, *_MODELS_AND_TIME)
@click.option("--no-schedule", is_flag=True, help="Remove the schedule.")
@click.option("--no-match", is_flag=True, help="Use only the named sessions.")
@options.as_json
def edit(
    *,
    suite_name: str,
    name: str | None,
    sessions: tuple[str, ...],
    use_models: tuple[str, ...],
    fail_on: tuple[Condition, ...],
    schedule: str | None,
    no_schedule: bool,
    no_match: bool,
    **chosen: Any,
) -> None:
    """Change a suite. What you do not give stays, and so do earlier runs."""
    matching = _matching(chosen)
    if (schedule is not None and no_schedule) or (matching and no_match):
        raise click.UsageError("You cannot set and remove the schedule in the same command.")
    facts = {
        "name": name,
        "sessions": sessions or None,
        "use_models": use_models or None,
        "fail_on": [*map(format_condition, fail_on)] or None,
        "schedule": schedule,
        "matching": matching,
    }
    changes = cast("types.SuiteChange", {name: value for name, value in facts.items() if value is not None})
    if no_schedule:
        changes["schedule"] = None
    if no_match:
        changes["matching"] = None
    client = connected()
    given = _options(chosen)
    if given:
        changes["options"] = cast(
            "types.SessionOptions", {**client.suites.get(suite_name)["options"], **given}
        )
    if not changes:
        raise click.UsageError("Choose what to change. See `timemachine suite edit --help`.")
    found = client.suites.edit(suite_name, **changes)
    show(found, suite_lines(found, _page_url(client, found)))


@suite.command("list")
@options.as_json
def list_suites() -> None:
    """List the suites with their latest runs."""
    items = list(connected().suites.every())
    show({"items": items, "next": None}, listed_suites(items))


@suite.command("show")
@name_argument
@options.as_json
def show_suite(*, suite_name: str) -> None:
    """Show what a suite replays and when."""
    client = connected()
    found = client.suites.get(suite_name)
    show(found, suite_lines(found, _page_url(client, found)))


@suite.command()
@name_argument
@fail_on
@click.option("--wait/--no-wait", default=True, help="Wait and show progress, or only launch the run.")
@options.as_json
def run(*, suite_name: str, fail_on: tuple[Condition, ...], wait: bool) -> None:
    """Replay all sessions of a suite and show what changed since the last run.

    Prints the estimated cost and waits. Exits with 3 if a --fail-on condition of the suite or of this run is true.
    """
    client = connected()
    if not wants_json():
        print_estimate(client.suites.estimate(suite_name))
    launched = client.suites.run(suite_name, fail_on=[format_condition(each) for each in fail_on])
    address = _page_url(client, launched)
    if not wait:
        show(launched, [f"Run {launched['number']}: {address}"])
        return
    done = _waited(client, launched, address)
    changed = client.suites.report(done["suite"], done["number"], change=_CHANGED)
    with checked_when_shown(lambda: _check(done)):
        show(done, run_lines(done, changed if done["previous"] else (), address))


@suite.command()
@name_argument
@options.as_json
def runs(*, suite_name: str) -> None:
    """List the runs of a suite, newest first."""
    items = list(connected().suites.runs(suite_name))
    show({"items": items, "next": None}, listed_runs(items))


@suite.command()
@name_argument
@number_argument
@click.option("--all", "everything", is_flag=True, help="Include unchanged steps.")
@options.as_json
def report(*, suite_name: str, number: str, everything: bool) -> None:
    """Show what changed in a run since the run before, step by step (default: the latest run)."""
    client = connected()
    found = client.suites.get_run(suite_name, number)
    compared = everything or found["previous"] is not None
    steps = client.suites.report(found["suite"], found["number"], change=None if everything else _CHANGED)
    items = list(steps) if compared else []
    show({"run": found, "items": items}, run_lines(found, items, _page_url(client, found)))


@suite.command()
@name_argument
@number_argument
@options.as_json
def cancel(*, suite_name: str, number: str) -> None:
    """Cancel every replay of a run (default: the latest run)."""
    found = connected().suites.cancel(suite_name, number)
    show(found, [f"Run {found['number']} is {found['status']}."])


@suite.command()
@name_argument
@options.yes
@options.as_json
def delete(*, suite_name: str) -> None:
    """Delete a suite and its reports, after confirmation.

    The replays of its runs stay.
    """
    client = connected()
    found = client.suites.get(suite_name)
    confirm(f"Delete the suite {one_line(found['name'])} and the reports of its runs?")
    deleted = client.suites.delete(found["id"])
    line = f"Suite {deleted['name']} was deleted with {counted(deleted['runs'], 'run')}. Their replays stay."
    show(deleted, [line])


def _matching(chosen: JsonObject) -> types.Matching | None:
    """The filters of further sessions, removed from the options; None if there are none."""
    given = {name: chosen.pop(name) for name in ("tag", "agent", "user", "q", "most")}
    return cast("types.Matching", {name: value for name, value in given.items() if value is not None}) or None


def _options(chosen: Mapping[str, Any]) -> types.SessionOptions:
    """The options of a replay that were given, by their names in the API."""
    named = {"search_mode" if name == "mode" else name: value for name, value in chosen.items()}
    given = {name: value for name, value in named.items() if value is not None and value is not False}
    return cast("types.SessionOptions", given)


def _waited(client: Client, launched: types.SuiteRunDetail, address: str) -> types.SuiteRunDetail:
    with waiting(f"The run is still running. Follow or cancel it at {address}") as progress:
        return client.suites.wait(
            launched["suite"], launched["number"], lambda found: progress.update(replay_progress(found))
        )


def _page_url(client: Client, found: types.SuiteOut | types.SuiteDetail | types.SuiteRunDetail) -> str:
    if "suite" in found:
        return f"{client.url}/suites/{found['suite']}/runs/{found['number']}/"
    return f"{client.url}/suites/{found['id']}/"


def _check(done: types.SuiteRunDetail) -> None:
    if done["held"]:
        raise ConditionHeld(f"--fail-on: {'; '.join(done['held'])}.")
    if done["status"] == "cancelled":
        raise Failure("The run was cancelled. Run the suite again for all of its steps.")
    if done["status"] != "done":
        raise Failure("Every replay of the run failed. See their pages for the errors.")
