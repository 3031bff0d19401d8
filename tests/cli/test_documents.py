"""docs/commands.md names every command, and every command line in it and in the tutorial is valid."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from timemachine.cli.main import cli
from timemachine.core.pure.conditions import NAMES

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(each for each in (ROOT / "docs").glob("*.md") if each.stem != "design-system"),
]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OF_OTHERS = {
    "--api-key",
    "--bearer-token-env-var",
    "--concurrency",
    "--deploy",
    "--detach",
    "--env",
    "--extra",
    "--find-links",
    "--free",
    "--from-literal",
    "--header",
    "--host",
    "--init-token",
    "--no-deps",
    "--overrides",
    "--password",
    "--pin",
    "--pip-args",
    "--queues",
    "--refresh",
    "--rm",
    "--scope",
    "--set",
    "--so-pin",
    "--to",
    "--token",
    "--transport",
    "--upgrade",
    "--without-gossip",
    "--without-mingle",
}
"""Options of other programs named in the documents."""
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\$ timemachine (.*)$", DOCUMENT, re.MULTILINE)
IN_THE_TUTORIAL = re.findall(r"^(?:\$ )?timemachine (.*)$", TUTORIAL, re.MULTILINE)


def every_command(group: click.Group, names: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from every_command(command, (*names, name))
        else:
            yield " ".join((*names, name))


@pytest.mark.parametrize("name", list(every_command(cli)))
def test_every_command_has_an_example(name: str) -> None:
    assert any(line == name or line.startswith(name + " ") for line in LINES)


@pytest.mark.parametrize("line", LINES + IN_THE_TUTORIAL)
def test_every_example_is_valid(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"@(\w+\.txt)", line):
        (tmp_path / name).write_text("Answer in one sentence.")
    words = shlex.split(line.partition(" > ")[0])
    command: click.Command = cli
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    command.make_context(None, words)


def options_of(command: click.Command) -> set[str]:
    """The long names of its options, and those of its subcommands."""
    own = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
    within = command.commands.values() if isinstance(command, click.Group) else ()
    return own.union(*(options_of(each) for each in within))


def command_in(words: list[str]) -> click.Command | None:
    """The command that these words begin with, or None."""
    found: click.Command = cli
    for word in words:
        if not isinstance(found, click.Group) or word not in found.commands:
            break
        found = found.commands[word]
    return None if found is cli else found


def of_operators() -> set[str]:
    """The options of the `manage.py` commands."""
    files = (ROOT / "timemachine" / "management" / "commands").glob("*.py")
    return {
        name
        for file in files
        for name in re.findall(r'add_argument\(\s*"(--[a-z-]+)"', file.read_text(encoding="utf-8"))
    }


def test_every_condition_of_fail_on_is_listed() -> None:
    listed = DOCUMENT.partition("`--fail-on` turns")[2].partition("```")[0]
    assert [name for name in NAMES if f"`{name}`" not in listed] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_option_documented_with_a_command_belongs_to_it(path: Path) -> None:
    spans = re.findall(r"`(?:timemachine )?([a-z][^`\n]*)`", path.read_text(encoding="utf-8"))
    named = [(span, command) for span in spans if (command := command_in(span.split())) is not None]
    assert [
        span
        for span, command in named
        if command.name != "manage" and not set(OPTION.findall(span)) <= options_of(command)
    ] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_documented_option_belongs_to_some_command(path: Path) -> None:
    known = options_of(cli) | of_operators() | OF_OTHERS
    assert set(OPTION.findall(path.read_text(encoding="utf-8"))) - known == set()


@pytest.mark.parametrize(
    "section", re.split(r"^## ", DOCUMENT, flags=re.MULTILINE)[1:], ids=lambda text: text.partition("\n")[0]
)
def test_every_option_in_a_section_belongs_to_a_command_named_there(section: str) -> None:
    named = [
        command_in(words.split())
        for words in re.findall(r"(?:`|^\$ )(?:timemachine )?([a-z][^`\n]*)", section, re.MULTILINE)
    ]
    known = (
        set().union(*(options_of(each) for each in named if each is not None)) | of_operators() | OF_OTHERS
    )
    assert set(OPTION.findall(section)) - known == set()
