"""`watch`: record the agents of this machine from the transcripts that they write."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.output.watching import Status, as_json, line
from timemachine.cli.terminal import announce, show, wants_json
from timemachine.client.errors import Refused, Unreachable
from timemachine.client.machine import key_id
from timemachine.client.server import find_server
from timemachine.client.watching.places import AGENTS
from timemachine.client.watching.state import States
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.watching.watcher import Source, Update, Watcher

_LONGEST_PAUSE = 60.0
_JUST_ENDED = 2.5
_FOLDER = click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path)


@click.command(cls=OneEach)
@click.argument("agents", metavar="[AGENT]…", nargs=-1, type=click.Choice(list(AGENTS)))
@click.option(
    "--from", "places", metavar="FOLDER", multiple=True, type=_FOLDER, help="Follow the transcripts in this folder instead of the agent's own folder. Needs exactly one AGENT.",
)  # fmt: skip
@click.option(
    "--in", "only", metavar="FOLDER", multiple=True, type=_FOLDER, help="Only sessions of agents that work in this folder or a folder below it.",
)  # fmt: skip
@click.option(
    "--redaction",
    metavar="PROFILE",
    help="Withhold what this redaction profile (`built-in` or a name) finds, so that it is never sent.",
)
@click.option("--once", is_flag=True, help="Send what is there and exit, for example from cron.")
@click.option(
    "--interval",
    type=click.FloatRange(0.1, 3600),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How often to look for new lines.",
)
@options.as_json
def watch(
    *,
    agents: tuple[str, ...],
    places: tuple[Path, ...],
    only: tuple[Path, ...],
    redaction: str | None,
    once: bool,
    interval: float,
) -> None:
    """Record the sessions of this machine's agents while they run: claude-code, codex, gemini, opencode; by default all that are here.

    Follows the transcripts that the agents write, also after a restart. What a `.timemachineignore` names is never sent. With --json, each update is a
    line, and with --once there is one document.
    """
    from timemachine.client.watching.watcher import Watcher
    from timemachine.client.watching.withholding import redaction as edit_of

    sources = _sources(agents, places)
    found = [each for each in sources if each.folder.is_dir()]
    if once and not found:
        raise Failure(_none_in(sources))
    client = connected()
    server = find_server(os.environ)
    watcher = Watcher(
        client=client,
        sources=sources,
        states=States(f"{server.url} {key_id(server)} {redaction or ''}"),
        only=only,
        redact=None if redaction is None else edit_of(_profile(client, redaction)),
    )
    if once:
        _once(watcher)
        return
    if not wants_json():
        for each in found:
            announce(f"Watching {each.agent.name} in {each.folder}")
        if not found:
            announce(f"{_none_in(sources)} Waiting for the first one.")
    _follow(watcher, interval)


def _sources(agents: tuple[str, ...], places: tuple[Path, ...]) -> "list[Source]":
    from timemachine.client.watching.watcher import Source

    if places:
        if len(agents) != 1:
            raise click.UsageError(
                "--from needs exactly one AGENT: the one that wrote the transcripts in the folder."
            )
        return [Source(agent=AGENTS[agents[0]], folder=folder) for folder in places]
    chosen = [AGENTS[name] for name in dict.fromkeys(agents or AGENTS)]
    return [Source(agent=each, folder=folder) for each in chosen for folder in each.folders(os.environ)]


def _none_in(sources: "list[Source]") -> str:
    looked_in = ", ".join(str(each.folder) for each in sources)
    return f"No transcripts on this machine. Looked in {looked_in}. Choose another folder with --from."


def _profile(client: "Client", name: str) -> Any:
    return client.redactions.get(name)


def _once(watcher: "Watcher") -> None:
    updates = list(watcher.round(everything=True))
    if not watcher.is_settled:  # an agent that has just ended: its last answer is complete then
        time.sleep(_JUST_ENDED)
        updates += watcher.round(everything=True)
    show({"items": [as_json(each) for each in updates]}, _lines(updates))
    problems = [each for each in updates if each.problem is not None]
    if problems:
        raise Failure(f"{counted(len(problems), 'problem')}. {problems[0].path}: {problems[0].problem}")


def _lines(updates: "list[Update]") -> Iterator[str]:
    """Yield a line for each session, which can have several updates."""
    totals: dict[str, tuple[Update, int]] = {}
    for each in updates:
        if each.session is not None:
            totals[each.session["id"]] = (each, each.added + totals.get(each.session["id"], (each, 0))[1])
    for each, added in totals.values():
        yield line(each, added)
    if not totals:
        yield "Nothing new."


def _follow(watcher: "Watcher", interval: float) -> None:
    status = Status()
    try:
        _rounds(watcher, status, interval)
    except KeyboardInterrupt:
        status.pass_on(is_end=True)


def _rounds(watcher: "Watcher", status: Status, interval: float) -> None:
    pause, is_away = interval, False
    everything = True
    while True:
        try:
            for each in watcher.round(everything=everything):
                status.add(each)
            everything = False
            if is_away:
                status.say("The server is back.")
            pause, is_away = interval, False
        except (Refused, Unreachable) as why:
            if isinstance(why, Refused) and why.status in {401, 403}:
                raise
            if not is_away:
                status.say(f"{why.message} Retrying until it responds; nothing is lost.")
            pause, is_away = min(pause * 2, _LONGEST_PAUSE), True
        status.pass_on()
        time.sleep(pause)
