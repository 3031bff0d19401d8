"""`share policy`: what the project allows of its links."""

from collections.abc import Iterator
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.group import OneEach
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import counted


@click.command(cls=OneEach)
@click.option(
    "--forbid/--allow",
    "forbidden",
    default=None,
    help="No link is made, and those there are open for nobody.",
)
@click.option(
    "--require-passphrase/--no-passphrase",
    "passphrase_required",
    default=None,
    help="Whether links made from now on need one.",
)
@click.option(
    "--require-profile/--no-profile",
    "profile_required",
    default=None,
    help="Whether links made from now on have to withhold by a redaction profile.",
)
@click.option("--longest-days", type=int, metavar="N", help="How many days links made from now on may live.")
@click.option("--any-days", is_flag=True, help="As many days as any link may live.")
@options.as_json
def policy(
    *,
    forbidden: bool | None,
    passphrase_required: bool | None,
    profile_required: bool | None,
    longest_days: int | None,
    any_days: bool,
    as_json: bool,
) -> None:
    """Show what the project allows of its links, or change it (needs the scope admin)."""
    if any_days and longest_days is not None:
        raise click.UsageError("Give --longest-days or --any-days, not both.")
    given = {
        "forbidden": forbidden,
        "passphrase_required": passphrase_required,
        "profile_required": profile_required,
        "longest_days": longest_days,
    }
    wanted: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if any_days:
        wanted["longest_days"] = None
    with connected() as client:
        found = client.shares.change_policy(**wanted) if wanted else client.shares.policy()
        show(found, _told(found), as_json=as_json)


def _told(found: dict[str, Any]) -> Iterator[str]:
    longest = found["longest_days"]
    yield from facts(
        [
            ("share links", "forbidden" if found["forbidden"] else "allowed"),
            (
                "passphrase",
                "every link needs one" if found["passphrase_required"] else "as its maker chooses",
            ),
            (
                "redaction",
                "every link needs a profile" if found["profile_required"] else "as its maker chooses",
            ),
            ("longest life", "as long as any link may" if longest is None else counted(longest, "day")),
        ]
    )
