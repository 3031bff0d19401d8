"""`training`: problems and what solved them, written as files to train on."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.group import InOrder
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import complain, show
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.client import Client

type Command = Any

PARTS: Final = ("train", "valid", "test")
_OPTIONS: Final = (
    click.option(
        "--form",
        type=click.Choice(["chat", "dpo"]),
        default="chat",
        show_default=True,
        help="Chats in OpenAI's form, or preferences: a prompt, the chosen answer, a rejected one.",
    ),
    click.option(
        "--what",
        type=click.Choice(["resolution", "chain"]),
        default="resolution",
        show_default=True,
        help="The problem and what solved it, or the whole way there.",
    ),
    click.option("--seed", metavar="TEXT", help="By which sessions are split."),
    click.option("--shares", metavar="A,B,C", help="Of train, valid and test: 80,10,10."),
    click.option("--redaction", metavar="PROFILE", help="What is withheld: a profile's name or id."),
    click.option("--agent", metavar="AGENT", help="Of this agent's sessions."),
    click.option("--user", metavar="USER", help="Of this user's."),
    click.option("--tag", metavar="TAG", help="Of those with this tag."),
    click.option("-q", "--query", "q", metavar="Q", help="Of those with this in name, key or what was said."),
    click.option("--since", metavar="WHEN", help="Of those started from then on."),
    click.option("--until", metavar="WHEN", help="Of those started until then."),
)


def _asking(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group(cls=InOrder)
def training() -> None:
    """Learn from what was solved: sessions with a solution, as pairs to train on."""


@training.command()
@_asking
@options.as_json
def report(*, as_json: bool, **asked: Any) -> None:
    """Say what pairs there are, and what is left out and why."""
    with connected() as client:
        found = client.training.report(**asked)
        show(found, _lines(found), as_json=as_json)


@training.command()
@click.option(
    "-o",
    "--output",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where train.jsonl, valid.jsonl and test.jsonl go.",
)
@_asking
@options.as_json
def export(*, folder: Path, as_json: bool, **asked: Any) -> None:
    """Write train.jsonl, valid.jsonl and test.jsonl, and say what is left out and why.

    Where there is no pair, nothing is written.
    """
    with connected() as client:
        found = client.training.report(**asked)
        if not found["pairs"] and not found["unread"]:
            none = "There is no pair to train on, so no file is written."
            show(found, [none, *_lines(found)], as_json=as_json)
            for line in _stale(folder):
                complain(line)
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as why:
            raise Failure(f"{folder} could not be made ({why.strerror}).") from why
        sizes = [_written(client, folder, part, asked) for part in PARTS]
        files = [f"{folder / part}.jsonl: {size:,} bytes" for part, size in zip(PARTS, sizes, strict=True)]
        show(found, [*files, *_lines(found)], as_json=as_json)


def _stale(folder: Path) -> Iterator[str]:
    """That files of an earlier export are still there, which are not what was asked for now."""
    there = [f"{part}.jsonl" for part in PARTS if (folder / f"{part}.jsonl").exists()]
    if there:
        yield f"{folder} still has {', '.join(there)} of an earlier export; they were left as they are."


def _written(client: "Client", folder: Path, part: str, asked: dict[str, Any]) -> int:
    target = folder / f"{part}.jsonl"
    try:
        return client.training.write(target, **asked, part=part)
    except OSError as why:
        raise Failure(f"{target} could not be written ({why.strerror}).") from why


def _lines(found: dict[str, Any]) -> Iterator[str]:
    split = found["split"]
    pairs = ", ".join(f"{part} {split['pairs'][part]:,}" for part in PARTS)
    yield from facts(
        [
            ("pairs", f"{found['pairs']:,}: {pairs}"),
            ("of", counted(sum(split["sessions"].values()), "session")),
            ("looked at", counted(found["sessions"], "session")),
            (
                "not read for this",
                f"{counted(found['unread'], 'session')}, whose pairs are in the files"
                if found["unread"]
                else "",
            ),
            (
                "split",
                f"by seed {split['seed']}, {', '.join(str(each) for each in split['shares'].values())}",
            ),
            ("redaction", f"{found['redaction']['name']}, version {found['redaction']['version']}"),
            ("withheld", ", ".join(f"{each['what']} {each['count']:,}" for each in found["withheld"])),
            *(
                (f"rejected: {each['rule']}", f"{each['pairs']:,}, {each['says']}")
                for each in found["rejected_by"]
            ),
            *((f"left out {counted(each['count'], each['of'])}", each["says"]) for each in found["left_out"]),
            ("deleted turns", f"{found['deleted_turns']:,}" if found["deleted_turns"] else ""),
        ]
    )
