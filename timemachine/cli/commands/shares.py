"""`share`: links that show one session, replay or comparison to somebody without an account, and who opened them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.commands.share_policy import policy
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import shortened
from timemachine.cli.group import InOrder
from timemachine.cli.ids import is_there, is_uuid
from timemachine.cli.output.share_preview import preview_lines, shown, unwithheld, withholds
from timemachine.cli.output.table import facts, table
from timemachine.cli.paging import tell_more
from timemachine.cli.terminal import show
from timemachine.cli.times import end_of, local
from timemachine.core.pure.clock import now
from timemachine.core.pure.numbers import counted, spaced

if TYPE_CHECKING:
    from timemachine.client.client import Client

_DONE = {"created": "created", "opened": "opened", "downloaded": "took the evidence", "ended": "revoked"}


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
@click.option("--through-step", type=int, metavar="N", help="The last step of a session that it shows.")
@click.option("--evidence-only", is_flag=True, help="Show what it is and its evidence, no recorded text.")
@click.option(
    "--redaction", metavar="PROFILE", help="Withhold by this redaction profile: its id or name, or built-in."
)
@click.option("--label", metavar="L", help="A note that only the project sees.")
@click.option("--preview", is_flag=True, help="Print what it would show and withhold, and create nothing.")
@options.as_json
def create(
    *,
    target: str,
    expires: str | None,
    through_step: int | None,
    evidence_only: bool,
    preview: bool,
    as_json: bool,
    **terms: Any,
) -> None:
    """Create a link to a session (its id or key), a replay or a comparison (their ids); the address is shown once."""
    terms |= {
        "target_id": target,
        "expires_at": None if expires is None else end_of(expires, now()),
        "through_sequence": through_step,
        "evidence_only": evidence_only or None,
    }
    with connected() as client:
        terms["target_type"] = _type_of(client, target)
        if preview:
            found = client.shares.preview(**terms)
            show(found, preview_lines(found), as_json=as_json)
        else:
            made = client.shares.create(**terms)
            show(made, _made(made, partial(_found, client, terms)), as_json=as_json)


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


@share.command()
@click.argument("link", metavar="ID")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, metavar="N")
@click.option("--after", metavar="PLACE", help="Go on from where the page before ended.")
@options.as_json
def log(*, link: str, limit: int, after: str | None, as_json: bool) -> None:
    """Show who opened a link, or tried to, newest first, and whether its log is whole."""
    with connected() as client:
        found = client.shares.opens(link, limit=limit, after=after)
        show(found, _logged(found), as_json=as_json)
        if not as_json:
            tell_more(found)


share.add_command(policy)


def _type_of(client: "Client", target: str) -> str:
    """What has that id or key. Raises `Failure` where nothing has."""
    found = client.sessions.get, client.replays.get, client.comparisons.get
    for kind, get in zip(("session", "replay", "comparison"), found, strict=True):
        if (kind == "session" or is_uuid(target)) and is_there(partial(get, target)):
            return kind
    raise Failure(
        f"There is no session of the id or key {shortened(target, 60)!r} in this project, and no replay or comparison of that id; "
        "`timemachine session list` shows the sessions."
    )


def _found(client: "Client", terms: dict[str, Any]) -> str:
    """What the built-in profile finds in what a link shows that withholds nothing; the link is there, so that nothing here may fail."""
    from timemachine.client.errors import ClientError

    try:
        read = client.shares.preview(**terms)
    except ClientError as why:
        return f"unknown, for it could not be looked through: {why.message}"
    return unwithheld(read) if read["found"] else ""


def _made(made: dict[str, Any], found: Callable[[], str]) -> Iterator[str]:
    """The address before all else, for it is shown once; then what the link is, and of one that withholds nothing what was `found` in it."""
    yield made["url"]
    yield from facts(
        [
            ("id", made["id"]),
            ("shows", shown(made)),
            ("through", "" if made["through_sequence"] is None else f"step {made['through_sequence']:,}"),
            ("expires", local(made["expires_at"])),
            ("opens", "any number of times" if made["max_opens"] is None else f"{made['max_opens']:,} times"),
            ("passphrase", "asked for" if made["passphrase"] else "none"),
            ("withholds", withholds(made["redaction"])),
            ("found", found() if made["redaction"] is None else ""),
            ("label", made["label"]),
        ]
    )
    yield "This address is shown once; keep it now."


def _listed(found: dict[str, Any]) -> Iterator[str]:
    if not found["items"]:
        yield "There is no share link yet."
        return
    heads = ["id", "shows", "withholds", "passphrase", "state", "opens", "last open", "expires", "label"]
    yield from table(heads, [_row(each) for each in found["items"]], right=("opens",))
    tell_more(found)


def _logged(found: dict[str, Any]) -> Iterator[str]:
    """The lines, by whom or from which network each is, and what reading the whole log again found."""
    heads = ["line", "at", "what", "who"]
    rows = [
        [
            f"{each['sequence']:,}",
            local(each["at"], seconds=True),
            _DONE.get(each["result"], f"refused: {spaced(each['result'])}"),
            each["by"] or " ".join(filter(None, (each["address"], each["browser"]))) or "unknown",
        ]
        for each in found["items"]
    ]
    yield from table(heads, rows, right=("line",))
    log, broken = found["log"], found["log"]["broken"]
    if broken is None:
        yield f"The log is whole: {counted(log['lines'], 'line')}, the last with the SHA-256 {log['sha256']}."
    else:
        yield f"The log is not whole: line {broken['sequence']:,}: {broken['why']}."


def _row(link: dict[str, Any]) -> list[str]:
    most = "" if link["max_opens"] is None else f" of {link['max_opens']:,}"
    return [
        link["id"],
        f"{'evidence of ' if link['evidence_only'] else ''}{link['target_type']} {shortened(link['target_name'], 40)}",
        shortened(withholds(link["redaction"]), 40),
        "asked for" if link["passphrase"] else "none",
        link["state"],
        f"{link['opens']:,}{most}",
        local(link["last_open_at"]) or "never",
        local(link["expires_at"]),
        shortened(link["label"], 40),
    ]
