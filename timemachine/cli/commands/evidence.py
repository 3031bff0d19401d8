"""`evidence`: the bundle of a session, replay or comparison as a file, and whether a bundle holds together."""

import json
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure, NotABundle
from timemachine.cli.group import InOrder
from timemachine.cli.ids import is_there, is_uuid
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import show
from timemachine.cli.times import local
from timemachine.verifier import tm_verify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from timemachine.client.client import Client

_ALTERED = "the server's last check found that this, or a session that it repeats, is not what was sealed: the file does not verify"
_NAMED = {"witness": "witness", "timestamp": "timestamp authority"}


@click.group(cls=InOrder)
def evidence() -> None:
    """Hand out what was recorded so that it can be checked without a server, and check it."""


@evidence.command()
@click.argument("target", metavar="ID", required=False)
@click.option(
    "--log", "of_log", is_flag=True, help="The project's log instead: all that was sealed and erased."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE.zip",
    help="Where to write it.",
)
@options.as_json
def export(*, target: str | None, of_log: bool, output: Path, as_json: bool) -> None:
    """Write the evidence of a session (its id or key), of a replay or comparison (its id) or of the project's log to a zip file."""
    if (target is None) != of_log:
        raise click.UsageError("Name a session, replay or comparison, or give --log for the project's log.")
    with connected() as client:
        try:
            of = _fetch(client, target, output)
        except OSError as why:
            raise Failure(f"{output} could not be written ({why.strerror}); choose another place.") from why
        altered = bool(target and of and client.evidence.seal(of, target)["altered"])
    if altered and not as_json:
        click.echo(f"warning: {_ALTERED}", err=True)
    key, *earlier = _keys_of(output)
    size = output.stat().st_size
    made = {"file": str(output), "bytes": size, "key": key, "earlier_keys": earlier, "altered": altered}
    show(made, _written(made), as_json=as_json)


@evidence.command()
@click.argument("bundle", metavar="FILE.zip", type=click.Path(path_type=Path))
@click.option(
    "--key",
    metavar="ed25519:FINGERPRINT",
    help="The key that must have signed it; its fingerprint comes another way.",
)
@click.option(
    "--older",
    metavar="OLDER.zip",
    type=click.Path(path_type=Path),
    help="A bundle of the same that was kept from before: is it the beginning of this one? Beside a log any of its project: is it in the log?",
)
@options.as_json
@click.pass_context
def verify(
    context: click.Context, *, bundle: Path, key: str | None, older: Path | None, as_json: bool
) -> None:
    """Check a bundle; no server is asked.

    What `tm_verify.py` does alone, which an auditor should prefer: it was not given to them by the server.
    """
    if key is not None and not tm_verify.is_fingerprint(key):
        raise click.BadParameter("it is written ed25519: and 64 digits of 0-9 and a-f", param_hint="--key")
    try:
        report = tm_verify.verify(str(bundle), key, str(older) if older else None)
    except tm_verify.Unreadable as why:
        if as_json:
            show(tm_verify.unreadable(str(bundle), why), (), as_json=True)
        raise NotABundle(f"{bundle}: {why}.") from why
    show(report.as_json(), tm_verify.told(report), as_json=as_json)
    context.exit(1 if report.failed else 0)


@evidence.command()
@click.argument("address", metavar="URL", required=False)
@click.option("--none", "nobody", is_flag=True, help="Tell no witness any more.")
@options.as_json
def witness(*, address: str | None, nobody: bool, as_json: bool) -> None:
    """Show or set the witness who is told of each new state of the log (needs the scope admin to set)."""
    _anchor("witness", address, nobody=nobody, as_json=as_json)


@evidence.command()
@click.argument("address", metavar="URL", required=False)
@click.option("--none", "nobody", is_flag=True, help="Ask no authority any more.")
@options.as_json
def authority(*, address: str | None, nobody: bool, as_json: bool) -> None:
    """Show or set the timestamp authority that dates the log (needs the scope admin to set)."""
    _anchor("timestamp", address, nobody=nobody, as_json=as_json)


def _anchor(kind: str, address: str | None, *, nobody: bool, as_json: bool) -> None:
    """What there is, after another address was set where one is given."""
    if nobody and address is not None:
        raise click.UsageError("Give an address or --none, not both.")
    with connected() as client:
        wanted = "" if nobody else address
        found = client.evidence.anchors() if wanted is None else client.evidence.set_anchors(**{kind: wanted})
        show(found, _anchored(kind, found), as_json=as_json)


def _anchored(kind: str, found: dict[str, Any]) -> "Iterator[str]":
    """Whom the project tells, how far they are, and what a witness needs to know."""
    told = found[kind]
    if told is None:
        yield f"There is no {_NAMED[kind]}; give an address to set one."
    else:
        yield from facts(
            [
                ("address", told["url"]),
                ("set", f"{local(told['set_at'])} by {told['set_by']}"),
                ("took", f"{told['size']:,} {'entry' if told['size'] == 1 else 'entries'} of the log"),
                ("last", "not yet" if told["taken_at"] is None else local(told["taken_at"])),
                *([("went wrong", f"{local(told['failed_at'])}: {told['error']}")] if told["error"] else []),
            ]
        )
    if kind == "witness":
        yield f"A witness needs this key: {found['witness_key']}"


def _keys_of(bundle: Path) -> list[str]:
    """The key that signs a bundle, and then the others that signed something in it."""
    with zipfile.ZipFile(bundle) as opened:
        signing = json.loads(opened.read(tm_verify.STATEMENT))["signatures"][0]["keyid"]
        known = tm_verify.public_keys(json.loads(opened.read(tm_verify.KEYS)), tm_verify.Report())
    return [signing, *(key for key in known if key != signing)]


def _fetch(client: "Client", target: str | None, output: Path) -> str | None:
    """A session of that id or key; else the replay, or else the comparison, of that id; the log where none is named. What it is; None: the log."""
    found = client.evidence
    if target is None:
        found.of_log(output)
        return None
    if not is_uuid(target):
        found.of_session(target, output)
        return "session"
    for of, fetch in (("session", found.of_session), ("replay", found.of_replay)):
        if is_there(partial(fetch, target, output)):
            return of
    found.of_comparison(target, output)
    return "comparison"


def _written(made: dict[str, Any]) -> list[str]:
    return [
        f"{made['file']}: {made['bytes']:,} bytes",
        f"check it with: timemachine evidence verify {made['file']} --key {made['key']}",
        *(
            f"states in it are signed by an earlier key, which was replaced: {key}"
            for key in made["earlier_keys"]
        ),
    ]
