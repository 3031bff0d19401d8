"""`evidence`: the bundle of a session, replay or comparison as a file, and whether a bundle holds together."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.group import InOrder
from timemachine.cli.terminal import show
from timemachine.client.errors import Refused
from timemachine.verifier import tm_verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from timemachine.client.client import Client

_NOT_FOUND = 404


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
            _fetch(client, target, output)
        except OSError as why:
            raise Failure(f"{output} could not be written ({why.strerror}); choose another place.") from why
        key = client.evidence.keys()["items"][0]["fingerprint"]
    facts = {"file": str(output), "bytes": output.stat().st_size, "key": key}
    show(facts, _written(facts), as_json=as_json)


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
    help="A bundle of the same that was kept from before: is it the beginning of this one?",
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
        raise Failure(f"{bundle}: {why}.") from why
    show(report.as_json(), tm_verify.told(report), as_json=as_json)
    context.exit(1 if report.problems else 0)


def _fetch(client: "Client", target: str | None, output: Path) -> None:
    """A session of that id or key; else the replay, or else the comparison, of that id; the log where none is named."""
    found = client.evidence
    if target is None:
        found.of_log(output)
    elif not (_is_there(found.of_session, target, output) or _is_there(found.of_replay, target, output)):
        found.of_comparison(target, output)


def _is_there(fetch: "Callable[[str, Path], None]", target: str, output: Path) -> bool:
    """Whether this is what has that id; it is written then. What has no id cannot be anything else."""
    try:
        fetch(target, output)
    except Refused as why:
        if why.status != _NOT_FOUND or not _is_uuid(target):
            raise
        return False
    return True


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _written(facts: dict[str, Any]) -> list[str]:
    return [
        f"{facts['file']}: {facts['bytes']:,} bytes",
        f"check it with: timemachine evidence verify {facts['file']} --key {facts['key']}",
    ]
