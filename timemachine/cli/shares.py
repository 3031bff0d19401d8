"""`share`: links that show one session, replay or comparison to somebody without an account."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from timemachine.base.clock import now
from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.group import InOrder
from timemachine.cli.moment import end_of, local
from timemachine.cli.table import facts, table
from timemachine.cli.terminal import complain, show
from timemachine.cli.wording import shortened
from timemachine.client.errors import Refused

if TYPE_CHECKING:
    from timemachine.client.client import Client

_NOT_FOUND = 404


@click.group(cls=InOrder)
def share() -> None:
    """Show a session, replay or comparison by a link, without an account."""


@share.command()
@click.argument("target", metavar="ID")
@click.option(
    "--expires",
    metavar="END",
    help="When it ends: 30m, 12h, 14d, 2w from now, or a time. Without it: 14 days.",
)
@click.option("--passphrase", metavar="WORDS", help="What a visitor has to know besides.")
@click.option("--max-opens", type=int, metavar="N", help="How often it opens.")
@click.option("--evidence-only", is_flag=True, help="Show what it is and its evidence, no recorded text.")
@click.option(
    "--redaction", metavar="PROFILE", help="Withhold by this redaction profile: its id or name, or built-in."
)
@click.option("--label", metavar="L", help="A note that only the project sees.")
@options.as_json
def create(
    *,
    target: str,
    expires: str | None,
    passphrase: str | None,
    max_opens: int | None,
    evidence_only: bool,
    redaction: str | None,
    label: str | None,
    as_json: bool,
) -> None:
    """Create a link to a session (its id or key), a replay or a comparison (their ids); the address is shown once."""
    expires_at = None if expires is None else end_of(expires, now())
    with connected() as client:
        made = client.shares.create(
            target_type=_type_of(client, target),
            target_id=target,
            expires_at=expires_at,
            passphrase=passphrase,
            max_opens=max_opens,
            evidence_only=evidence_only or None,
            redaction=redaction,
            label=label,
        )
        show(made, _made(made), as_json=as_json)


@share.command("list")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, metavar="N")
@click.option("--after", metavar="PLACE", help="Go on from where the page before ended.")
@options.as_json
def list_(*, limit: int, after: str | None, as_json: bool) -> None:
    """List the links, newest first, also those that do not work any more."""
    with connected() as client:
        found = client.shares.page(limit=limit, after=after)
        show(found, _listed(found), as_json=as_json)


@share.command()
@click.argument("link", metavar="ID")
@options.as_json
def revoke(*, link: str, as_json: bool) -> None:
    """End a link for good, at once."""
    with connected() as client:
        ended = client.shares.revoke(link)
        show(
            ended,
            [f"Share link {ended['id']} is revoked since {local(ended['revoked_at'])}."],
            as_json=as_json,
        )


def _type_of(client: "Client", target: str) -> str:
    try:
        UUID(target)
    except ValueError:
        return "session"
    if _is_there(client.replays.get, target):
        return "replay"
    return "comparison" if _is_there(client.comparisons.get, target) else "session"


def _is_there(get: "Callable[[str], object]", target: str) -> bool:
    try:
        get(target)
    except Refused as why:
        if why.status != _NOT_FOUND:
            raise
        return False
    return True


def _made(made: dict[str, Any]) -> Iterator[str]:
    yield made["url"]
    yield from facts(
        [
            ("id", made["id"]),
            ("shows", f"{_shown(made)} {made['target_type']} {made['target_id']}"),
            ("expires", local(made["expires_at"])),
            ("opens", "any number of times" if made["max_opens"] is None else f"{made['max_opens']:,} times"),
            ("passphrase", "asked for" if made["passphrase"] else "none"),
            ("withholds", _withheld(made["redaction"])),
            ("label", made["label"]),
        ]
    )
    yield "This address is shown once; keep it now."


def _withheld(redaction: dict[str, Any] | None) -> str:
    return "nothing" if redaction is None else f"{redaction['name']}, version {redaction['version']}"


def _shown(made: dict[str, Any]) -> str:
    return "only the evidence of the" if made["evidence_only"] else "the"


def _listed(found: dict[str, Any]) -> Iterator[str]:
    if not found["items"]:
        yield "There is no share link yet."
        return
    heads = ["id", "shows", "state", "opens", "last open", "expires", "label"]
    yield from table(heads, [_row(each) for each in found["items"]], right=("opens",))
    if found["next"]:
        complain(f"There are more: timemachine share list --after {found['next']}")


def _row(link: dict[str, Any]) -> list[str]:
    most = "" if link["max_opens"] is None else f" of {link['max_opens']:,}"
    return [
        link["id"],
        f"{link['target_type']} {link['target_id']}",
        link["state"],
        f"{link['opens']:,}{most}",
        local(link["last_open_at"]) or "never",
        local(link["expires_at"]),
        shortened(link["label"], 40),
    ]
