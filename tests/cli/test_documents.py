"""docs/commands.md names every command, and every line in it is one that the command understands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from timemachine.cli.main import cli

DOCUMENT = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\$ timemachine (.*)$", DOCUMENT, re.MULTILINE)


def every_command(group: click.Group, names: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from every_command(command, (*names, name))
        else:
            yield " ".join((*names, name))


@pytest.mark.parametrize("name", list(every_command(cli)))
def test_every_command_has_an_example(name: str) -> None:
    assert any(line == name or line.startswith(name + " ") for line in LINES)


@pytest.mark.parametrize("line", LINES)
def test_every_example_is_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"@(\w+\.txt)", line):
        (tmp_path / name).write_text("Answer in one sentence.")
    words = shlex.split(line.partition(" > ")[0])
    command: click.Command = cli
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    command.make_context(None, words)
