"""`timemachine watch` records transcripts while they grow, however often it is killed."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.terminal import Here
from timemachine.recording.sessions.models import Action, Session

LONG_AGO = 1_760_000_000


def line(kind: str, at: int, content: object, **more: object) -> str:
    message = {"role": kind, "content": content} | (
        {"id": f"msg_{at}", "model": "claude-x"} if kind == "assistant" else {}
    )
    return json.dumps(
        {
            "type": kind, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": "s-1", "cwd": more.get("cwd", "/work/app"),
            "timestamp": f"2026-03-01T10:00:{at:02}.000Z", "message": message,
        }
    )  # fmt: skip


@pytest.fixture
def claude(tm: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    folder = tmp_path / "claude" / "projects" / "-app"
    folder.mkdir(parents=True)
    return folder


def rest(file: Path) -> None:
    """Let the file look as if nothing was added for long."""
    os.utime(file, (LONG_AGO, LONG_AGO))


def test_once_records_what_is_new(tm: Here, claude: Path) -> None:
    file = claude / "s-1.jsonl"
    file.write_text(
        "\n".join(
            [line("user", 0, "Fix the pool."), line("assistant", 1, [{"type": "text", "text": "Looking."}])]
        )
        + '\n{"type": "us'
    )
    assert "2 new steps" not in tm.ok("watch", "claude-code", "--once")
    assert not Session.objects.exists() or Session.objects.get().last_sequence < 3
    with file.open("a") as opened:
        opened.write('er"}\n' + line("user", 2, "Thanks.") + "\n")
    rest(file)
    found = tm.json("watch", "claude-code", "--once")
    assert found["items"][0]["session"]["key"] == "s-1"
    assert [str(each.output_id is not None) for each in Action.objects.order_by("sequence")]
    renamed = file.rename(claude / "renamed.jsonl")
    before = Session.objects.get().last_sequence
    assert tm.json("watch", "claude-code", "--once")["items"] == []
    renamed.write_text(renamed.read_text() + line("user", 3, "One more.") + "\n")
    rest(renamed)
    tm.ok("watch", "claude-code", "--once")
    assert Session.objects.get().last_sequence == before + 1
