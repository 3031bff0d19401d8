"""What `timemachine watch` prints while it runs."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from timemachine.cli.commands.watch import watch
from timemachine.cli.output.watching import Status
from timemachine.cli.terminal import Replaced
from timemachine.client.watching.watcher import Update


@pytest.fixture(autouse=True)
def command() -> Iterator[None]:
    with click.Context(watch):
        yield


def update(name: str, added: int) -> Update:
    session = {"id": name, "key": name, "name": name, "url": f"http://tm/{name}"}
    return Update(agent="codex", path=Path("x.jsonl"), session=session, added=added)


def test_in_a_file_a_session_has_a_line_a_minute_and_a_last_one(capsys: pytest.CaptureFixture[str]) -> None:
    status = Status()
    for each in (update("fence", 2), update("fence", 1), update("gate", 4), update("fence", 5)):
        status.add(each)
    status.pass_on()
    status.pass_on(is_end=True)
    assert capsys.readouterr().out.splitlines() == [
        "codex  fence  2 new steps  http://tm/fence",
        "codex  gate  4 new steps  http://tm/gate",
        "codex  fence  6 new steps  http://tm/fence",
    ]


def test_in_a_terminal_the_line_of_a_session_is_replaced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    lines = Replaced()
    for name, line in (("a", "a" * 25), ("b", "壁" * 3), ("a", "a")):
        lines.put(name, line)
    assert (
        capsys.readouterr().out
        == f"{'a' * 25}\n\x1b[3A\r\x1b[J{'a' * 25}\n壁壁壁\n\x1b[4A\r\x1b[Ja\n壁壁壁\n"
    )
    lines.leave()
    lines.put("c", "c")
    assert capsys.readouterr().out == "c\n"
