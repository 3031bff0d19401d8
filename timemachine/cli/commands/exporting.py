"""`session export`: a session as a file."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.group import OneEach
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import counted


@click.command(cls=OneEach)
@click.argument("target", metavar="ID")
@click.option(
    "--format", "format_name", metavar="F", help="Which format; without it our own, which keeps everything."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to write it; without it, to standard output.",
)
@options.as_json
def export(*, target: str, format_name: str | None, output: Path | None, as_json: bool) -> None:
    """Export a session, also while it is recorded.

    Our own format can be imported again, here or elsewhere, and gives an equal session.
    """
    if output is None and as_json:
        raise click.UsageError("--json tells of a file: give -o FILE with it.")
    if output is None and sys.stdout.isatty() and format_name == "zip":
        raise click.UsageError("A zip is nothing for a terminal: give -o FILE.")
    with connected() as client:
        if output is None:
            with TemporaryDirectory() as folder:
                kept = Path(folder) / "export"
                client.sessions.export(target, kept, format=format_name)
                with kept.open("rb") as opened:
                    shutil.copyfileobj(opened, sys.stdout.buffer)
            return
        try:
            through = client.sessions.export(target, output, format=format_name)
        except OSError as why:
            raise Failure(f"{output} could not be written ({why.strerror}); choose another place.") from why
    made = {"file": str(output), "bytes": output.stat().st_size, "through": through}
    show(
        made,
        [f"{made['file']}: {made['bytes']:,} bytes, {counted(through, 'action')}"],
        as_json=as_json,
    )
