"""`share`: links that show one session, replay or comparison to someone without an account, and who opened them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder, suggest_next_page
from timemachine.cli.connection import connected, exists, is_uuid
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import expiry_time, local, shortened
from timemachine.cli.output.table import facts, table
from timemachine.cli.terminal import show
from timemachine.core.pure.clock import now
from timemachine.core.pure.numbers import counted, spaced

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types

LONGEST: Final = 100
_DONE = {
    "created": "created",
    "opened": "opened",
    "downloaded": "downloaded the evidence",
    "ended": "revoked",
}


@click.group(cls=InOrder)
def share() -> None:
    """Share a session, replay or comparison with people who have no account."""


@share.command()
@click.argument("target", metavar="ID")
@click.option(
    "--expires",
    metavar="WHEN",
    help="Expiry: 30m, 12h, 14d or 2w from now, or a time (default 14 days).",
)
@click.option("--passphrase", metavar="WORDS", help="Passphrase that visitors must enter.")
@click.option("--max-opens", type=int, metavar="N", help="Maximum number of views.")
@click.option("--through-step", type=int, metavar="N", help="The last step of the session to show.")
@click.option(
    "--evidence-only", is_flag=True, help="Show and offer only the evidence, without recorded text."
)
@click.option("--redaction", metavar="PROFILE", help="Redaction profile: ID, name or built-in.")
@click.option("--label", metavar="L", help="A label that only the project sees.")
@click.option("--preview", is_flag=True, help="Print what the link would show and withhold, and exit.")
@options.as_json
def create(
    *,
    target: str,
    expires: str | None,
    through_step: int | None,
    evidence_only: bool,
    preview: bool,
    **terms: Any,
) -> None:
    """Create a link to a session (id or key), replay or comparison (id). It is shown only once."""
    terms |= {
        "target_id": target,
        "expires_at": None if expires is None else expiry_time(expires, now()),
        "through_sequence": through_step,
        "evidence_only": evidence_only or None,
    }
    client = connected()
    terms["target_type"] = _type_of(client, target)
    if preview:
        found = client.shares.preview(**terms)
        show(found, preview_lines(found))
    else:
        made = client.shares.create(**terms)
        show(made, _made(made))


@share.command("list")
@options.page
@options.as_json
def list_(*, limit: int, after: str | None) -> None:
    """List the links, newest first, including those that no longer work."""
    found = connected().shares.page(limit=limit, after=after)
    show(found, _listed(found))


@share.command()
@click.argument("link", metavar="ID")
@options.as_json
def revoke(*, link: str) -> None:
    """Revoke a link immediately and permanently."""
    ended = connected().shares.revoke(link)
    show(ended, [f"Link {ended['id']} was revoked {local(ended['revoked_at'])}."])


@share.command()
@click.argument("link", metavar="ID")
@options.page
@options.as_json
def log(*, link: str, limit: int, after: str | None) -> None:
    """Show who opened a link or tried to, newest first, and whether its log is intact."""
    found = connected().shares.opens(link, limit=limit, after=after)
    show(found, _logged(found))


def _type_of(client: Client, target: str) -> str:
    """The type of what has this id or key. Raises `Failure` if nothing has."""
    found: dict[str, Callable[[str], object]] = {
        "session": client.sessions.get,
        "replay": client.replays.get,
        "comparison": client.comparisons.get,
    }
    for kind, get in found.items():
        if (kind == "session" or is_uuid(target)) and exists(partial(get, target)):
            return kind
    raise Failure(
        f"This project has no session with the id or key {shortened(target, 60)!r}, and no replay or comparison with this id. "
        "List the sessions with `timemachine session list`."
    )


def _made(made: types.ShareCreated) -> Iterator[str]:
    """The URL first, because it is shown only once; then the terms of the link, and without a profile what the built-in one finds in it."""
    yield made["url"]
    yield from facts(
        [
            ("id", made["id"]),
            ("shows", shown(made)),
            ("through", "" if made["through_sequence"] is None else f"step {made['through_sequence']:,}"),
            ("expires", local(made["expires_at"])),
            ("views", "any number" if made["max_opens"] is None else f"at most {made['max_opens']:,}"),
            ("passphrase", "required" if made["passphrase"] else "none"),
            ("withholds", withholds(made["redaction"])),
            ("warning", made["warning"]["message"] if made["warning"] else ""),
            ("label", made["label"]),
            ("note", made["note"] or ""),
        ]
    )
    yield "Copy this link now. It will not be shown again."


def _listed(found: types.SharePage) -> Iterator[str]:
    heads = ["id", "shows", "withholds", "passphrase", "state", "views", "last view", "expires", "label"]
    none = "No share links yet. Create one with `timemachine share create ID`."
    yield from table(heads, [_row(each) for each in found["items"]], right=("views",), none=none)
    suggest_next_page(found)


def _logged(found: types.LogPage) -> Iterator[str]:
    """The entries with the user or network of each, and the result of verifying the log."""
    heads = ["line", "time", "event", "by"]
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
        yield f"The log is intact: {counted(log['lines'], 'line')}, last SHA-256 {log['sha256']}."
    else:
        yield f"Line {broken['sequence']:,} of the log does not match: {broken['why']}."
    suggest_next_page(found)


def _row(link: types.ShareOut) -> list[str]:
    most = "" if link["max_opens"] is None else f" of {link['max_opens']:,}"
    return [
        link["id"],
        f"{'evidence of ' if link['evidence_only'] else ''}{link['target_type']} {shortened(link['target_name'], 40)}",
        shortened(withholds(link["redaction"]), 40),
        "required" if link["passphrase"] else "none",
        link["state"],
        f"{link['opens']:,}{most}",
        local(link["last_open_at"]) or "never",
        local(link["expires_at"]),
        shortened(link["label"], 40),
    ]


@share.command()
@click.option(
    "--forbid/--allow",
    "forbidden",
    default=None,
    help="Turn off share links: none can be created, and existing ones stop working.",
)
@click.option(
    "--require-passphrase/--no-passphrase",
    "passphrase_required",
    default=None,
    help="Whether new links must have a passphrase.",
)
@click.option(
    "--require-profile/--no-profile",
    "profile_required",
    default=None,
    help="Whether new links must have a redaction profile.",
)
@click.option("--longest-days", type=int, metavar="N", help="Maximum lifetime of new links in days.")
@click.option("--any-days", is_flag=True, help="Remove the limit of --longest-days.")
@options.as_json
def policy(*, any_days: bool, **rules: Any) -> None:
    """Show or change the rules for share links of the project (changing requires the scope admin)."""
    if any_days and rules["longest_days"] is not None:
        raise click.UsageError("Use --longest-days or --any-days, not both.")
    changes = {name: value for name, value in rules.items() if value is not None}
    if any_days:
        changes["longest_days"] = None
    client = connected()
    found = client.shares.change_policy(**changes) if changes else client.shares.policy()
    show(found, _policy(found))


def _policy(found: types.SharePolicyOut) -> Iterator[str]:
    longest = found["longest_days"]
    yield from facts(
        [
            ("share links", "turned off" if found["forbidden"] else "allowed"),
            (
                "passphrase",
                "required for every link" if found["passphrase_required"] else "optional",
            ),
            (
                "redaction",
                "required for every link" if found["profile_required"] else "optional",
            ),
            ("longest lifetime", "no limit of the project" if longest is None else counted(longest, "day")),
        ]
    )


def preview_lines(found: types.SharePreview) -> Iterator[str]:
    """What a link would show, the number of matches of each rule, and the first of them as a visitor would see them."""
    yield "Preview only. No link was created."
    yield from facts(
        [
            ("shows", shown(found)),
            ("through", "" if found["through_sequence"] is None else f"step {found['through_sequence']:,}"),
            *_sessions(found),
            ("steps", _steps(found)),
            ("withholds", withholds(found["redaction"])),
            ("withheld", counted(found["withheld"], "place") if found["redaction"] else ""),
            ("found", unwithheld(found)),
            *(
                (_rule(each["rule"], each["what"]), f"{each['count']:,}")
                for each in (*found["counts"], *found["found"])
            ),
        ]
    )
    if found["first"]:
        yield "First matches, as a visitor would see them:"
        yield from facts([(_place(each, found), shortened(each["text"], LONGEST)) for each in found["first"]])


def _rule(rule: str, what: str) -> str:
    """A rule, and what it withholds if it is named otherwise."""
    return rule if rule == what else f"{rule} ({what})"


def shown(link: types.ShareCreated | types.SharePreview) -> str:
    """What a link shows."""
    only = "only the evidence of the" if link["evidence_only"] else "the"
    return f"{only} {link['target_type']} {link['target_id']}"


def withholds(redaction: types.ProfileVersion | None) -> str:
    """The redaction profile of a link."""
    return "nothing" if redaction is None else f"{redaction['name']}, version {redaction['version']}"


def unwithheld(found: types.SharePreview) -> str:
    """How many places the built-in profile would withhold; empty if the link has a profile."""
    if found["redaction"]:
        return ""
    return f"{counted(sum(each['count'] for each in found['found']), 'place')} that the built-in profile would withhold, visible to anyone with the link"


def _sessions(found: types.SharePreview) -> Iterator[tuple[str, str]]:
    for each in found["sessions"]:
        by = f", by {each['agent']}" if each["agent"] else ""
        yield "session", f"{shortened(each['name'])}{by}"


def _steps(found: types.SharePreview) -> str:
    if found["evidence_only"]:
        return f"{found['steps']:,}, without their text"
    unread = found["read"] < found["steps"]
    return f"{found['steps']:,}" + (f", of which the first {found['read']:,} were searched" if unread else "")


def _place(line: types.WithheldPlace, found: types.SharePreview) -> str:
    """The step, the session if there are several, and the field."""
    step = "session" if line["sequence"] is None else f"step {line['sequence']:,}"
    names = {each["id"]: shortened(each["name"], 40) for each in found["sessions"]}
    of = f" of {names[line['session']]}" if len(names) > 1 else ""
    return shortened(f"{step}{of}, {line['field']}", LONGEST)
