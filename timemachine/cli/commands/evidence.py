"""`evidence`: export the evidence of a session, replay, comparison or log, and verify it offline."""

from __future__ import annotations

import json
import time
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder
from timemachine.cli.connection import connected, exists, is_uuid
from timemachine.cli.failure import Failure, NotEvidence
from timemachine.cli.formatting import local
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import print_error, show, wants_json
from timemachine.core.pure.numbers import counted
from timemachine.verifier import tm_verify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from timemachine.client.client import Client
    from timemachine.client.generated import types

_ALTERED = "Warning: the last check found differences from the seal. The verifier will name whatever differs in this file."
LONGEST_CHECK = 600
"""Seconds that the command waits for a worker by default."""
PAUSE = 0.5
"""Seconds between two requests for the result of a check that a worker runs."""
_NAMED = {"witness": "witness", "timestamp": "timestamp authority"}


@click.group(cls=InOrder)
def evidence() -> None:
    """Export what was recorded as evidence, and verify it without a server."""


@evidence.command()
@click.argument("target", metavar="ID", required=False)
@click.option(
    "--log", "of_log", is_flag=True, help="Export the project's log of everything that was sealed or erased."
)
@click.option("--audit-log", is_flag=True, help="With --log: also who did what in the project.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE.zip",
    help="The file to write.",
)
@options.as_json
def export(*, target: str | None, of_log: bool, audit_log: bool, output: Path) -> None:
    """Write the evidence of a session (id or key), replay or comparison (id), or of the project's log, to a ZIP file."""
    if (target is None) != of_log:
        raise click.UsageError("Name a session, replay or comparison, or use --log for the project's log.")
    if audit_log and not of_log:
        raise click.UsageError("--audit-log needs --log.")
    client = connected()
    try:
        of = _fetch(client, target, output, audit_log=audit_log)
    except OSError as why:
        raise Failure(f"Cannot write {output} ({why.strerror}). Choose another file.") from why
    altered = bool(target and of and client.evidence.seal(of, target)["altered"])
    if altered and not wants_json():
        print_error(_ALTERED)
    key, *earlier = _keys_of(output)
    size = output.stat().st_size
    made = {"file": str(output), "bytes": size, "key": key, "earlier_keys": earlier, "altered": altered}
    lines = [
        f"{output}: {size:,} bytes",
        f"Verify it with: timemachine evidence verify {output} --key {key}",
        *(f"Some states in it are signed by an earlier key, which was replaced: {each}" for each in earlier),
    ]
    show(made, lines)


@evidence.command()
@click.argument("bundle", metavar="FILE.zip", type=click.Path(path_type=Path))
@click.option(
    "--key",
    metavar="ed25519:FINGERPRINT",
    help="The key that must have signed it; get the fingerprint through a different channel.",
)
@click.option(
    "--older",
    metavar="OLDER.zip",
    type=click.Path(path_type=Path),
    help="An earlier export of the same record, to check that this one continues it; with a log, any export from the project, to check that the log contains it.",
)
@options.as_json
@click.pass_context
def verify(context: click.Context, *, bundle: Path, key: str | None, older: Path | None) -> None:
    """Verify a file offline, without a server.

    Exits with 0 if it is verified, 1 if it has faults, 2 if it is not evidence, and 3 if it is consistent but its
    signer was not checked because --key is missing.

    Auditors should prefer the stand-alone script `tm_verify.py` from a source they trust.
    """
    if key is not None and not tm_verify.is_fingerprint(key):
        raise click.BadParameter(
            "use ed25519: followed by 64 hexadecimal digits (0-9, a-f)", param_hint="--key"
        )
    try:
        report = tm_verify.verify(str(bundle), key, str(older) if older else None)
    except tm_verify.Unreadable as why:
        if wants_json():
            show(tm_verify.unreadable(str(bundle), why), ())
        raise NotEvidence(f"{bundle}: {why}.") from why
    show(report.as_json(), tm_verify.report_lines(report))
    context.exit(tm_verify.EXIT_CODES[report.result])


@evidence.command()
@click.argument("target", metavar="ID")
@click.option(
    "--timeout",
    type=click.IntRange(0),
    default=LONGEST_CHECK,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the worker that checks large sessions.",
)
@options.as_json
@click.pass_context
def check(context: click.Context, *, target: str, timeout: int) -> None:
    """Compare a session (id or key), replay or comparison (id) in the server's database with its seal.

    Exits with 1 if something differs from what was sealed, and names each difference.
    """
    client = connected()
    found = _checked(client, target)
    until = time.monotonic() + timeout
    while found["result"] is None:
        if time.monotonic() >= until:
            raise Failure(
                f"No result after {counted(timeout, 'second')}. The check continues if a worker is running; its result is on the evidence page. Run the"
                " command again or with a longer --timeout."
            )
        time.sleep(PAUSE)
        found = client.evidence.check(found["id"])
    show(found, _compared(found))
    context.exit(1 if found["result"] == "altered" else 0)


@evidence.command()
@click.argument("address", metavar="URL", required=False)
@click.option("--none", "remove", is_flag=True, help="Remove the witness.")
@options.as_json
def witness(*, address: str | None, remove: bool) -> None:
    """Show or set the witness that receives each new state of the log (setting requires the scope admin)."""
    _anchor("witness", address, remove=remove)


@evidence.command()
@click.argument("address", metavar="URL", required=False)
@click.option("--none", "remove", is_flag=True, help="Remove the timestamp authority.")
@options.as_json
def authority(*, address: str | None, remove: bool) -> None:
    """Show or set the timestamp authority that dates the log (setting requires the scope admin)."""
    _anchor("timestamp", address, remove=remove)


def _anchor(kind: str, address: str | None, *, remove: bool) -> None:
    """Set the URL if one is given, and show the setting."""
    if remove and address is not None:
        raise click.UsageError("Use a URL or --none, not both.")
    client = connected()
    url = "" if remove else address
    found = client.evidence.anchors() if url is None else client.evidence.set_anchors(**{kind: url})
    show(found, _anchored(kind, found))


def _anchored(kind: str, found: types.AnchorsOut) -> Iterator[str]:
    """The URL, how much of the log it has received, and the key that a witness needs."""
    anchor = found["witness"] if kind == "witness" else found["timestamp"]
    if anchor is None:
        yield f"No {_NAMED[kind]}. Add a URL to set one."
    else:
        yield from facts(
            [
                ("url", anchor["url"]),
                ("set", f"{local(anchor['set_at'])} by {anchor['set_by']}"),
                (
                    "received",
                    f"{anchor['size']:,} {'entry' if anchor['size'] == 1 else 'entries'} of the log",
                ),
                ("last", "not yet" if anchor["taken_at"] is None else local(anchor["taken_at"])),
                ("failed", f"{local(anchor['failed_at'])}: {anchor['error']}" if anchor["error"] else ""),
            ]
        )
    if kind == "witness":
        yield f"Give the witness this key: {found['witness_key']}"


def _checked(client: Client, target: str) -> types.SealCheckOut:
    """Request the check of the session of that id or key, else of the replay or comparison of that id."""
    found = client.evidence
    if not is_uuid(target) or exists(partial(found.seal_of_session, target)):
        return found.check_session(target)
    if exists(partial(found.seal_of_replay, target)):
        return found.check_replay(target)
    return found.check_comparison(target)


def _compared(found: types.SealCheckOut) -> Iterator[str]:
    """The result of a check, and each difference."""
    steps = f" and {counted(found['recorded_steps'], 'repeated step')}" if found["recorded_steps"] else ""
    yield f"{found['result']}: {counted(found['records'], 'record')}{steps} compared with the seal"
    if found["erased_fields"]:
        yield f"{counted(found['erased_fields'], 'field')} erased, each named by a tombstone in the log"
    for each in found["problems"]:
        where = "" if each["index"] is None else f" record {each['index']:,}"
        of = f" of the session {each['session']}" if each.get("session") else ""
        yield f"DIFFERENCE ({each['code']}){where}{of}: {each['says']}"


def _keys_of(bundle: Path) -> list[str]:
    """The key that signed the evidence, then the others that signed something in it."""
    with zipfile.ZipFile(bundle) as opened:
        signing = json.loads(opened.read(tm_verify.STATEMENT))["signatures"][0]["keyid"]
        known = tm_verify.public_keys(json.loads(opened.read(tm_verify.KEYS)), tm_verify.Report())
    return [signing, *(key for key in known if key != signing)]


def _fetch(client: Client, target: str | None, output: Path, *, audit_log: bool) -> str | None:
    """Download the session of that id or key, else the replay or comparison of that id, or the log without a target. Returns the type; None is the log."""
    found = client.evidence
    if target is None:
        found.of_log(output, audit_log=audit_log or None)
        return None
    if not is_uuid(target):
        found.of_session(target, output)
        return "session"
    for of, fetch in (("session", found.of_session), ("replay", found.of_replay)):
        if exists(partial(fetch, target, output)):
            return of
    found.of_comparison(target, output)
    return "comparison"
