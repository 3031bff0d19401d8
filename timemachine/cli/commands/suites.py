"""`suite`: a named set of sessions that is replayed again by one command, and what changed since its last run."""

from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import ConditionHeld, Failure, Interrupted
from timemachine.cli.formatting import one_line
from timemachine.cli.group import InOrder
from timemachine.cli.output.estimates import tell_estimate
from timemachine.cli.output.suites import listed_runs, listed_suites, run_lines, suite_lines
from timemachine.cli.question import confirmed
from timemachine.cli.reason import reason_given
from timemachine.cli.terminal import Progress, judged, show
from timemachine.core.pure.conditions import SUITE_NAMES, Condition, format_condition
from timemachine.core.pure.numbers import counted, total_cost

if TYPE_CHECKING:
    from timemachine.client.client import Client

_CHANGED: Final = "changed"
_LATEST: Final = "latest"

name_argument = click.argument("suite_name", metavar="NAME")
number_argument = click.argument("number", metavar="[RUN]", default=_LATEST)
fail_on = click.option(
    "--fail-on",
    "fail_on",
    multiple=True,
    type=options.ConditionType(SUITE_NAMES),
    metavar="CONDITION",
    help="Exit with 3 where this holds: worse, new_failure, left_out, a verdict, altered, missing, error, cost:USD.",
)
_MATCHING = (
    click.option(
        "--match-tag", "tag", metavar="TAG", help="Also the newest sessions with this tag, at each run."
    ),
    click.option("--match-agent", "agent", metavar="A", help="Also those of this agent."),
    click.option("--match-user", "user", metavar="U", help="Also those of this user."),
    click.option("--match", "q", metavar="TEXT", help="Also those with this in their name or key."),
    click.option("--most", type=int, metavar="N", help="So many of those at most (20)."),
)
_MODELS_AND_TIME = (
    click.option(
        "--use-model",
        "use_models",
        multiple=True,
        metavar="M",
        help="Ask this model; each session with each.",
    ),
    fail_on,
    click.option(
        "--schedule",
        metavar="WHEN",
        help='"every 6 hours", "daily 07:30 Europe/Berlin" or "weekly monday 07:30 Europe/Berlin".',
    ),
)
_REPLAYING = (
    click.option("--audit", is_flag=True, help="Over the frozen context; without it retrieval runs again."),
    click.option("--reason", metavar="TEXT", help="Why; it is kept with every replay."),
    options.of_replay,
    click.option(
        "--spend-limit",
        "spend_limit_usd",
        type=float,
        metavar="USD",
        help="In one run a call starts only where what it is expected to cost fits into this.",
    ),
)


@click.group(cls=InOrder)
def suite() -> None:
    """Replay a set of sessions again and again, and see what changed."""


@suite.command()
@name_argument
@click.argument("sessions", metavar="[SESSION…]", nargs=-1)
@options.together(*_MATCHING, *_REPLAYING, *_MODELS_AND_TIME)
@options.as_json
def create(
    *,
    suite_name: str,
    sessions: tuple[str, ...],
    use_models: tuple[str, ...],
    fail_on: tuple[Condition, ...],
    schedule: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Keep a set of sessions, with how they are to be replayed, under a name.

    Nothing runs yet: run it with `suite run NAME`, or by its schedule.
    """
    if asked["audit"]:
        asked["reason"] = reason_given(asked["reason"])
    facts = {
        "matching": _matching(asked),
        "options": _options(asked),
        "use_models": list(use_models),
        "fail_on": [format_condition(each) for each in fail_on],
        "schedule": schedule,
    }
    with connected() as client:
        made = client.suites.create(suite_name, sessions, facts)
        show(made, suite_lines(made, _address(client, made)), as_json=as_json)


@suite.command()
@name_argument
@click.option("--name", metavar="NEW", help="Another name.")
@click.option(
    "--session", "sessions", multiple=True, metavar="ID", help="Exactly these sessions from now on."
)
@options.together(*_MATCHING, *_REPLAYING, *_MODELS_AND_TIME)
@click.option("--no-schedule", is_flag=True, help="Run by hand only.")
@click.option("--no-match", is_flag=True, help="Look for no further sessions.")
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
    as_json: bool,
    **asked: Any,
) -> None:
    """Change what is given of a suite; the rest stays, and so do earlier runs."""
    matching = _matching(asked)
    if (schedule is not None and no_schedule) or (matching and no_match):
        raise click.UsageError("What is set cannot be taken away at once.")
    lists = {"sessions": sessions, "use_models": use_models, "fail_on": [*map(format_condition, fail_on)]}
    facts: dict[str, Any] = {key: list(value) for key, value in lists.items() if value}
    facts |= {key: value for key, value in (("name", name), ("schedule", schedule)) if value is not None}
    facts |= {"schedule": None} if no_schedule else {}
    facts |= {"matching": matching} if matching or no_match else {}
    with connected() as client:
        given = _options(asked)
        if given:
            facts["options"] = client.suites.get(suite_name)["options"] | given
        if not facts:
            raise click.UsageError("Say what of the suite is to be another.")
        found = client.suites.edit(suite_name, facts)
        show(found, suite_lines(found, _address(client, found)), as_json=as_json)


@suite.command("list")
@options.as_json
def list_suites(*, as_json: bool) -> None:
    """List the suites, each with its latest run."""
    with connected() as client:
        items = list(client.suites.every())
        show({"items": items, "next": None}, listed_suites(items), as_json=as_json)


@suite.command("show")
@name_argument
@options.as_json
def show_suite(*, suite_name: str, as_json: bool) -> None:
    """Show what a suite replays and when."""
    with connected() as client:
        found = client.suites.get(suite_name)
        show(found, suite_lines(found, _address(client, found)), as_json=as_json)


@suite.command()
@name_argument
@fail_on
@click.option(
    "--wait/--no-wait", default=True, help="Wait for it with a line of progress, or only launch it."
)
@options.as_json
def run(*, suite_name: str, fail_on: tuple[Condition, ...], wait: bool, as_json: bool) -> None:
    """Replay all sessions of a suite: say about what that costs, wait, and say what changed since the last run.

    It exits with 3 where a condition holds: the suite's own, or a --fail-on of this run.
    """
    with connected() as client:
        if not as_json:
            tell_estimate(client.suites.estimate(suite_name))
        launched = client.suites.run(suite_name, fail_on=[format_condition(each) for each in fail_on])
        address = _address(client, launched)
        if not wait:
            show(launched, [f"Run {launched['number']}: {address}"], as_json=as_json)
            return
        done = _waited(client, launched, address)
        changed = client.suites.report(done["suite"], done["number"], change=_CHANGED)
        with judged(lambda: _check(done)):
            show(done, run_lines(done, changed if done["previous"] else (), address), as_json=as_json)


@suite.command()
@name_argument
@options.as_json
def runs(*, suite_name: str, as_json: bool) -> None:
    """List the runs of a suite, the latest first."""
    with connected() as client:
        items = list(client.suites.runs(suite_name))
        show({"items": items, "next": None}, listed_runs(items), as_json=as_json)


@suite.command()
@name_argument
@number_argument
@click.option("--all", "everything", is_flag=True, help="Steps that did not change, too.")
@options.as_json
def report(*, suite_name: str, number: str, everything: bool, as_json: bool) -> None:
    """Show what changed in a run since the run before, step by step; without RUN in the latest one."""
    with connected() as client:
        found = client.suites.get_run(suite_name, number)
        compared = everything or found["previous"] is not None
        steps = client.suites.report(found["suite"], found["number"], change=None if everything else _CHANGED)
        items = list(steps) if compared else []
        show(
            {"run": found, "items": items}, run_lines(found, items, _address(client, found)), as_json=as_json
        )


@suite.command()
@name_argument
@number_argument
@options.as_json
def cancel(*, suite_name: str, number: str, as_json: bool) -> None:
    """Stop every replay of a run; without RUN of the latest one."""
    with connected() as client:
        found = client.suites.cancel(suite_name, number)
        show(found, [f"Run {found['number']} is {found['status']}."], as_json=as_json)


@suite.command()
@name_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
def delete(*, suite_name: str, yes: bool, as_json: bool) -> None:
    """Delete a suite with its reports, after asking.

    The replays of its runs stay with their sessions.
    """
    with connected() as client:
        found = client.suites.get(suite_name)
        if not yes and not confirmed(
            f"Delete the suite {one_line(found['name'])} and the reports of its runs?"
        ):
            raise Failure("Nothing was deleted; answer yes, or say --yes.")
        gone = client.suites.delete(found["id"])
        told = [f"Suite {gone['name']} is deleted with {counted(gone['runs'], 'run')}; their replays stay."]
        show(gone, told, as_json=as_json)


def _matching(asked: dict[str, Any]) -> dict[str, Any] | None:
    """The description of sessions that was given, taken out of the options; None where none was."""
    given = {name: asked.pop(name) for name in ("tag", "agent", "user", "q", "most")}
    return {name: value for name, value in given.items() if value is not None} or None


def _options(asked: dict[str, Any]) -> dict[str, Any]:
    """The options of a replay that were given, by the names of the API."""
    named = {"search_mode" if name == "mode" else name: value for name, value in asked.items()}
    return {name: value for name, value in named.items() if value is not None and value is not False}


def _waited(client: "Client", launched: dict[str, Any], address: str) -> dict[str, Any]:
    def tell(found: dict[str, Any]) -> None:
        steps = found["steps"]
        over = sum(number for name, number in steps.items() if name != "total")
        spent = total_cost(found["cost_usd"], found["unknown_cost_calls"])
        progress.tell(f"{found['status']}: {over:,} of {counted(steps['total'], 'step')}, {spent}")

    try:
        with Progress() as progress:
            return client.suites.wait(launched["suite"], launched["number"], tell)
    except KeyboardInterrupt as why:
        raise Interrupted(f"The run goes on; follow it, or cancel it, at {address}") from why


def _address(client: "Client", found: dict[str, Any]) -> str:
    if "suite" in found:
        return f"{client.url}/suites/{found['suite']}/runs/{found['number']}/"
    return f"{client.url}/suites/{found['id']}/"


def _check(done: dict[str, Any]) -> None:
    if done["held"]:
        raise ConditionHeld(f"--fail-on: {'; '.join(done['held'])}.")
    if done["status"] == "cancelled":
        raise Failure(
            "The run was cancelled before it was through; run the suite again for all of its steps."
        )
    if done["status"] != "done":
        raise Failure("Nothing of the run was done; what each replay says is on its page.")
