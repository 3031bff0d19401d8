"""Options that say which sessions are meant together, for deleting and holding them."""

from collections.abc import Callable
from typing import Any, Final

import click

type Command = Callable[..., Any]

NAMES: Final = (
    "q", "named", "agent", "user", "status", "tag", "tool", "kind", "model", "since", "until", "min_cost", "older_than_days",
)  # fmt: skip
_OPTIONS: Final = (
    click.option("-q", "--query", "q", metavar="Q", help="With this in name, key or what was said."),
    click.option("--named", metavar="TEXT", help="With this in name or key."),
    click.option("--agent", metavar="AGENT", help="Of this agent."),
    click.option("--user", metavar="USER", help="Of this user."),
    click.option("--tag", metavar="TAG", help="With this tag."),
    click.option("--status", type=click.Choice(["recording", "ended"]), help="Only those."),
    click.option("--kind", metavar="KIND", help="With a step of this kind."),
    click.option("--tool", metavar="TOOL", help="With a call of this tool."),
    click.option("--model", metavar="M", help="With a call of this model."),
    click.option("--since", metavar="WHEN", help="Started from then on: RFC 3339, or a date."),
    click.option("--until", metavar="WHEN", help="Started until then: RFC 3339, or a date."),
    click.option("--min-cost", type=float, metavar="USD", help="That cost as much or more."),
    click.option(
        "--older-than",
        "older_than_days",
        type=click.IntRange(1),
        metavar="DAYS",
        help="In which nothing was recorded for so many days.",
    ),
)


def which_options(command: Command) -> Command:
    """A command with all of them, in their order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given_of(options: dict[str, Any]) -> dict[str, Any]:
    """Those that were given, by the names of the API."""
    return {name: options[name] for name in NAMES if options.get(name) is not None}


def told(which: dict[str, Any] | None) -> str:
    """What was asked for, in words."""
    return ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in (which or {}).items())
