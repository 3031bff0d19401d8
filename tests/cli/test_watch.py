"""`timemachine watch`: which transcripts are sent, and what of them."""

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Here, Terminal
from timemachine.client.client import Client
from timemachine.client.server import find_server
from timemachine.client.watching.places import AGENTS
from timemachine.client.watching.state import States
from timemachine.client.watching.watcher import Source, Watcher
from timemachine.core.payloads.queries import value
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Action, Session

LONG_AGO = 1_760_000_000


def line(kind: str, at: int, content: Any, **message: Any) -> dict[str, Any]:
    return {
        "type": kind, "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": "s-1", "cwd": "/work/app",
        "timestamp": f"2026-03-01T10:00:{at:02}.000Z", "message": {"role": kind, "content": content, **message},
    }  # fmt: skip


ASKED = line("user", 0, "Fix the pool. I am ann@example.com.")
ANSWERED = line("assistant", 1, [{"type": "text", "text": "Looking."}], id="m1", model="claude-x")


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    folder = tmp_path / "claude" / "projects" / "-app"
    folder.mkdir(parents=True)
    return folder


def write(file: Path, *records: dict[str, Any], more: str = "") -> None:
    """Write a transcript to which nothing was added for long."""
    file.write_text("".join(json.dumps(each) + "\n" for each in records) + more)
    os.utime(file, (LONG_AGO, LONG_AGO))


def said() -> list[Any]:
    steps = Action.objects.order_by("session", "sequence").select_related("output")
    return [None if each.output is None else value(each.output) for each in steps]


def test_a_transcript_is_continued_after_it_was_renamed_and_replaced(tm: Here, claude: Path) -> None:
    write(claude / "s-1.jsonl", ASKED, ANSWERED)
    (found,) = tm.json("watch", "claude-code", "--once")["items"]
    assert (found["session"]["key"], found["added"]) == ("s-1", 3)
    assert tm.run("watch", "claude-code", "--once").out == "Nothing new.\n"
    (claude / "s-1.jsonl").rename(claude / "other.jsonl")
    write(claude / "other.jsonl", ASKED, ANSWERED, line("user", 2, "Thanks."))
    (found,) = tm.json("watch", "claude-code", "--once")["items"]
    assert found["added"] == 1
    write(claude / "other.jsonl", ASKED, line("user", 3, "Again."))
    assert tm.json("watch", "claude-code", "--once")["items"][0]["added"] == 1
    assert Session.objects.count() == 1


def working_in(folder: Path, *records: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**each, "cwd": str(folder)} for each in records]


def test_what_an_ignore_file_names_is_never_sent(tm: Here, claude: Path, tmp_path: Path) -> None:
    project = tmp_path / "app"
    project.mkdir()
    (project / ".timemachineignore").write_text(".env\n/secrets/\n")
    withheld = (
        {"file_path": str(project / "src/../secrets/key.pem")},
        {"command": "cat ./.env | head"},
        {"command": "make\ncat .env\nls"},
        {"command": "grep -r KEY secrets"},
        {"command": "git show HEAD:.env"},
    )
    inputs = [*withheld, {"command": "cat README.md"}]
    uses = [
        {"type": "tool_use", "id": f"t{at}", "name": "Bash", "input": each} for at, each in enumerate(inputs)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": each["id"], "content": f"confidential-{each['id']}"}
        for each in uses
    ]
    answered = line("assistant", 1, uses, id="m1", model="claude-x")
    write(claude / "s-1.jsonl", *working_in(project, ASKED, answered, line("user", 2, results)))
    tm.json("watch", "claude-code", "--once")
    results_sent = [
        value(each.output) for each in Action.objects.filter(kind="tool_result").order_by("sequence")
    ]
    assert results_sent == ["[withheld: .timemachineignore]"] * len(withheld) + ["confidential-t5"]

    (project / ".timemachineignore").write_text("*\n")
    others = [{**each, "sessionId": "s-2"} for each in working_in(project, ASKED, answered)]
    write(claude / "s-2.jsonl", *others)
    assert tm.json("watch", "claude-code", "--once")["items"] == []
    assert tm.json("watch", "claude-code", "--once", "--in", str(claude))["items"] == []


def test_an_ignore_file_applies_from_the_moment_it_is_written(tm: Here, claude: Path, tmp_path: Path) -> None:
    tm.json("status")
    source = Source(agent=AGENTS["claude-code"], folder=claude)
    with Client(find_server(os.environ)) as client:
        watcher = Watcher(client=client, sources=[source], states=States("here"))
        write(claude / "s-1.jsonl", *working_in(tmp_path, ASKED, ANSWERED))
        (found,) = watcher.round(everything=True)
        assert found.added == 3
        (tmp_path / ".timemachineignore").write_text("*\n")
        write(claude / "s-1.jsonl", *working_in(tmp_path, ASKED, ANSWERED, line("user", 2, "A secret plan.")))
        assert list(watcher.round(everything=True)) == []


def test_a_redaction_profile_applies_before_anything_is_sent(tm: Here, claude: Path) -> None:
    write(claude / "s-1.jsonl", ASKED, ANSWERED)
    tm.json("watch", "claude-code", "--once", "--redaction", "built-in")
    assert said()[0] == "Fix the pool. I am [withheld: e-mail]."
    assert Action.objects.get(kind="llm_call").model == "anthropic:claude-x"


def test_documents_of_gemini_and_opencode(tm: Here, tmp_path: Path) -> None:
    chat = {
        "sessionId": "g-1",
        "projectHash": "ab",
        "messages": [{"id": "m1", "type": "user", "content": "List."}],
    }
    (tmp_path / "chats").mkdir()
    file = tmp_path / "chats" / "session-1.json"
    for text in ("Nothing here.", "Still nothing."):
        chat["messages"] = [*chat["messages"], {"id": text, "type": "gemini", "content": text}]
        file.write_text(json.dumps(chat))
        os.utime(file, (LONG_AGO, LONG_AGO + len(text)))
        tm.json("watch", "gemini", "--once", "--from", str(tmp_path / "chats"))
    assert [each for each in said() if isinstance(each, str)] == ["List.", "Nothing here.", "Still nothing."]

    with closing(sqlite3.connect(tmp_path / "opencode.db", autocommit=True)) as database:
        database.execute(
            "CREATE TABLE session (id, title, version, directory, project_id, parent_id, slug, time_created, time_updated)"
        )
        database.execute("CREATE TABLE message (id, session_id, time_created, time_updated, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, time_updated, data)")
        database.execute(
            "INSERT INTO session VALUES ('ses_1', 'Pool', '1', '/work', 'p', NULL, 'x', 1000, 2000)"
        )
        about = {"role": "user", "time": {"created": 1000}}
        database.execute("INSERT INTO message VALUES ('msg_1', 'ses_1', 1000, 1000, ?)", [json.dumps(about)])
        part = {"type": "text", "text": "Why is it exhausted?"}
        database.execute("INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 3000, ?)", [json.dumps(part)])
    found = tm.json("watch", "opencode", "--once", "--from", str(tmp_path))["items"]
    assert [each["session"]["key"] for each in found] == ["ses_1"]
    assert "Why is it exhausted?" in said()


def test_it_waits_for_an_agent_that_has_not_run_yet(
    tm: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupted)
    ran = tm.run("watch", "codex", CODEX_HOME=str(tmp_path / "none"))
    assert "Waiting for the first one." in ran.err + ran.out


def test_what_it_cannot_do_is_said_in_a_line(
    tm: Here, claude: Path, terminal: Terminal, tmp_path: Path
) -> None:
    assert "exactly one AGENT" in tm.run("watch", "--from", str(tmp_path)).err
    assert (
        "No transcripts on this machine"
        in tm.run("watch", "codex", "--once", CODEX_HOME=str(tmp_path / "none")).err
    )
    write(claude / "s-1.jsonl", ASKED, ANSWERED)
    start_session(tm.project, name="Taken", key="s-1", by="test")
    ran = tm.run("watch", "claude-code", "--once")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "was recorded here" in ran.err
