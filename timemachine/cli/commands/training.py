"""`training`: export problems and their solutions as training files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import print_error, show
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types

PARTS: Final[tuple[Literal["train", "valid", "test"], ...]] = ("train", "valid", "test")
_export_options: Final = options.combined(
    click.option(
        "--form",
        type=click.Choice(["chat", "dpo"]),
        default="chat",
        show_default=True,
        help="Chats in OpenAI's format, or preferences: a prompt, the chosen answer and a rejected one.",
    ),
    click.option(
        "--what",
        type=click.Choice(["resolution", "chain"]),
        default="resolution",
        show_default=True,
        help="The problem and its solution, or also the steps in between.",
    ),
    click.option("--seed", metavar="TEXT", help="Seed for splitting the sessions."),
    click.option("--shares", metavar="A,B,C", help="Shares of train, valid and test (default 80,10,10)."),
    click.option("--redaction", metavar="PROFILE", help="Redaction profile: name or ID."),
    options.agent,
    options.user,
    options.tag,
    options.query,
    options.since,
    options.until,
)


@click.group(cls=InOrder)
def training() -> None:
    """Export training pairs from sessions with a solution."""


@training.command()
@_export_options
@options.as_json
def report(**chosen: Any) -> None:
    """Show how many pairs there are, and what is left out and why."""
    found = connected().training.report(**chosen)
    show(found, _lines(found))


@training.command()
@click.option(
    "-o",
    "--output",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for train.jsonl, valid.jsonl and test.jsonl.",
)
@_export_options
@options.as_json
def export(*, folder: Path, **chosen: Any) -> None:
    """Write train.jsonl, valid.jsonl and test.jsonl, and show what is left out and why.

    Writes nothing if there are no pairs.
    """
    client = connected()
    found = client.training.report(**chosen)
    if not found["pairs"] and not found["unread"]:
        none = "No pairs. No files were written. See the reasons below."
        show(found, [none, *_lines(found)])
        there = [f"{part}.jsonl" for part in PARTS if (folder / f"{part}.jsonl").exists()]
        if there:
            print_error(f"{folder} still contains {', '.join(there)} from an earlier export.")
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        raise Failure(f"Cannot create {folder} ({why.strerror}). Choose another folder.") from why
    sizes = [_written(client, folder, part, chosen) for part in PARTS]
    files = [f"{folder / part}.jsonl: {size:,} bytes" for part, size in zip(PARTS, sizes, strict=True)]
    show(found, [*files, *_lines(found)])


def _written(client: Client, folder: Path, part: str, chosen: Mapping[str, Any]) -> int:
    target = folder / f"{part}.jsonl"
    try:
        return client.training.write(target, **chosen, part=part)
    except OSError as why:
        raise Failure(f"Cannot write {target} ({why.strerror}). Choose another folder.") from why


def _lines(found: types.TrainingReport) -> Iterator[str]:
    split = found["split"]
    pairs = ", ".join(f"{part} {split['pairs'][part]:,}" for part in PARTS)
    yield from facts(
        [
            ("pairs", f"{found['pairs']:,}: {pairs}"),
            ("from", counted(sum(split["sessions"][part] for part in PARTS), "session")),
            ("searched", counted(found["sessions"], "session")),
            (
                "not counted",
                f"{counted(found['unread'], 'session')}; the files include their pairs"
                if found["unread"]
                else "",
            ),
            (
                "split",
                f"by seed {split['seed']}, {', '.join(str(split['shares'][part]) for part in PARTS)}",
            ),
            ("redaction", f"{found['redaction']['name']}, version {found['redaction']['version']}"),
            ("withheld", ", ".join(f"{each['what']} {each['count']:,}" for each in found["withheld"])),
            *(
                (f"rejected: {each['rule']}", f"{each['pairs']:,}, {each['says']}")
                for each in found["rejected_by"]
            ),
            *((f"left out {counted(each['count'], each['of'])}", each["says"]) for each in found["left_out"]),
            ("deleted steps", f"{found['deleted_turns']:,}" if found["deleted_turns"] else ""),
        ]
    )
