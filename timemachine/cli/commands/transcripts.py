"""`session transcript`: a session told again, whole or the part that matters."""

import json
from collections.abc import Callable
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.group import OneEach
from timemachine.cli.terminal import write


def _several[F: Callable[..., Any]](name: str, of: str) -> Callable[[F], F]:
    return click.option(
        f"--{name}", multiple=True, metavar=name[0].upper(), help=f"Only {of}; may be given several times."
    )


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@_several("significance", "turns of that significance: decision, solution, breakthrough …")
@_several("role", "what that role said: user, agent (or assistant), system, tool")
@_several("kind", "steps of that kind: message, ask, tool_call …")
@_several("tag", "turns with that tag")
@click.option(
    "--min-importance",
    type=options.ShareType(),
    metavar="X",
    help="Only turns of at least that importance.",
)
@click.option(
    "--budget", type=click.IntRange(1), metavar="N", help="The most important turns that fit into N tokens."
)
@click.option(
    "--as",
    "form",
    type=click.Choice(["text", "messages"]),
    default="text",
    show_default=True,
    help="As words for a prompt, or as messages of a chat.",
)
@options.as_json
def transcript(*, target: str, form: str, as_json: bool, **asked: Any) -> None:
    """Tell a session again, every turn in its order, or those that matter, for a prompt.

    It says how many turns and tokens of those recorded are told, and marks where turns are left out.
    """
    with connected() as client:
        if as_json or form == "messages":
            found = client.sessions.transcript(target, form="json" if as_json else form, **asked)
            write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        else:
            write(client.sessions.transcript_text(target, **asked))
