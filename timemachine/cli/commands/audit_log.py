"""`audit-log`: what happened in the project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import local, shortened
from timemachine.cli.output.table import table
from timemachine.cli.terminal import show

if TYPE_CHECKING:
    from timemachine.client.generated import types

_FORMS: Final = ("jsonl", "csv")


def _filters[F](command: F) -> F:
    """Add the filters of the log to a command."""
    return options.combined(
        click.option(
            "--actor", default=None, metavar="A", help="An e-mail address, `key NAME`, visitor or system."
        ),
        click.option(
            "--action", default=None, metavar="A", help="Such as key.created, or its subject, such as key."
        ),
        click.option("--since", default=None, metavar="WHEN", help="A time, or a date (its beginning)."),
        click.option("--until", default=None, metavar="WHEN", help="A time, or a date (its end)."),
    )(command)  # type: ignore[arg-type,return-value]


@click.group("audit-log", cls=InOrder)
def audit_log() -> None:
    """Read, export and check the log of who did what in the project."""


@audit_log.command("list")
@_filters
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--after", default=None, metavar="CURSOR", help="`next` of the previous page.")
@options.as_json
def list_(*, limit: int, after: str | None, **filters: str | None) -> None:
    """List events, newest first."""
    found = connected().audit_log.page(limit=limit, after=after, **filters)
    show(found, _listed(found))


@audit_log.command()
@_filters
@click.option(
    "-o",
    "--output",
    "target",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file to write, ending in .jsonl or .csv.",
)
@options.as_json
def export(*, target: Path, **filters: str | None) -> None:
    """Write events to a file, oldest first."""
    form = target.suffix.removeprefix(".")
    if form not in _FORMS:
        raise click.UsageError("FILE must end in .jsonl or .csv.")
    try:
        connected().audit_log.export(target, format=form, **filters)
    except OSError as why:
        raise Failure(f"Cannot write {target} ({why.strerror}). Choose another file.") from why
    size = target.stat().st_size
    show({"file": str(target), "bytes": size}, [f"{target}: {size:,} bytes"])


@audit_log.command()
@click.pass_context
@options.as_json
def check(context: click.Context) -> None:
    """Check the chain from its first event. Exits with 1 if an event does not match."""
    found = connected().audit_log.check()
    show(found, [_checked(found)])
    if found["broken"]:
        context.exit(1)


def _checked(found: types.AuditCheck) -> str:
    broken = found["broken"]
    if broken:
        return f"Event {broken['sequence']:,} does not match: {broken['why']}."
    waiting = (
        f" {found['waiting']:,} newer are not yet in the signed evidence log." if found["waiting"] else ""
    )
    if not found["lines"]:
        return f"No event has been chained yet.{waiting}"
    return f"{found['lines']:,} events match. The last has the hash {found['sha256']}.{waiting}"


def _listed(found: types.AuditPage) -> Iterator[str]:
    heads = ["when", "who", "what", "target", "from"]
    yield from table(heads, [_row(each) for each in found["items"]], none="No events.")
    if found["next"]:
        yield f"More: --after {found['next']}"


def _row(event: types.AuditEventOut) -> list[str]:
    target = " ".join(filter(None, (event["target_type"], event["target_id"])))
    return [
        local(event["at"]),
        shortened(event["actor"], 40) or "not signed in",
        event["action"],
        shortened(target, 60),
        event["address"] or "this server",
    ]
