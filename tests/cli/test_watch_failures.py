"""`timemachine watch`: transcripts that go on, branch, or cannot be sent."""

import json
import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Here, Terminal
from tests.cli.test_watch import ANSWERED, ASKED, LONG_AGO, claude, said, write
from tests.recording.importing.claude_code.test_copies import FIRST, RESUMED, calls, own, parents, steps
from tests.recording.importing.claude_code.test_files import MAIN, SUB
from tests.recording.importing.growing_files import REAL
from timemachine.client.watching.lines import Lines
from timemachine.client.watching.state import States
from timemachine.client.watching.withholding import edited, redaction
from timemachine.recording.importing.pure.growing.settling import read_lines
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.sessions.models import Action

__all__ = ["claude"]


def age(path: Path, seconds: float) -> None:
    """Make the file as old as this."""
    os.utime(path, (time.time() - seconds,) * 2)


def once(tm: Here, agent: str, *words: str) -> list[Any]:
    """What a run records."""
    found: list[Any] = tm.json("watch", agent, "--once", *words)["items"]
    return found


def test_a_resumed_session_counts_each_turn_once(tm: Here, claude: Path) -> None:
    write(claude / "first.jsonl", *FIRST)
    once(tm, "claude-code")
    write(claude / "resumed.jsonl", *RESUMED)
    once(tm, "claude-code")
    assert (own("first"), own("resumed"), calls()) == (steps(0), steps(1), ["a0", "a1"])
    assert parents() == {"first": (None, None), "resumed": ("first", 5)}


def test_what_a_file_begins_with_is_sent_together(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    sent: list[int] = []

    def send(lines: list[str], *_: Any) -> Any:
        sent.append(len(lines))
        return {"lines": len(lines), "needed": [], "position": {}}

    lines = Lines(file, States("test"), lambda text, _: text)
    for number in range(1, 4):
        write(file, *[ASKED] * number)
        age(file, 0.5)
        assert lines.send(send) is None
    age(file, 3)
    again = Lines(file, States("test"), lambda text, _: text)
    again.send(send)
    assert sent == [3]


def test_a_sub_agent_waits_for_its_result(tm: Here, claude: Path) -> None:
    progress = {
        "type": "progress",
        "sessionId": "s1",
        "data": {"agentId": "a1b2", "message": MAIN[2]["message"]},
    }
    session, sub = claude / "s1.jsonl", claude / "s1" / "subagents" / "agent-a1b2.jsonl"
    sub.parent.mkdir(parents=True)
    asked = {**MAIN[1], "message": {**MAIN[1]["message"], "stop_reason": "tool_use"}}
    told = {**SUB[1], "message": {**SUB[1]["message"], "stop_reason": "end_turn"}}
    write(sub, SUB[0], told, SUB[2])
    write(session, MAIN[0], asked, progress)
    for each in (session, sub):
        age(each, 10)
    once(tm, "claude-code")
    assert not Action.objects.filter(agent="agent-a1b2").exists()
    write(session, MAIN[0], asked, progress, *MAIN[2:])
    age(session, 10)
    once(tm, "claude-code")
    of_sub = Action.objects.filter(agent="agent-a1b2").order_by("sequence")
    assert [each.parent_id_given for each in of_sub if each.client_id in {"s1", "s2", "s3"}] == ["a1/1"] * 3


def test_the_files_of_opencode_grow_and_are_undone(tm: Here, tmp_path: Path) -> None:
    storage = tmp_path / "storage"

    def put(place: str, content: Any) -> None:
        path = storage / f"{place}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        for each in storage.rglob("*"):
            os.utime(each, (LONG_AGO,) * 2)

    def message(number: int, role: str, *parts: dict[str, Any], **times: int) -> None:
        name = f"msg_{number}"
        put(f"message/ses_1/{name}", {"id": name, "role": role, "time": {"created": number, **times}})
        for at, part in enumerate(parts):
            put(f"part/{name}/prt_{number}{at}", part)

    def recorded() -> int:
        return sum(each["added"] for each in once(tm, "opencode", "--from", str(tmp_path)))

    running: dict[str, Any] = {
        "type": "tool",
        "tool": "bash",
        "callID": "c1",
        "state": {"status": "running", "input": {"command": "make"}},
    }
    put("session/p/ses_1", {"id": "ses_1", "title": "Build", "directory": "/work", "time": {"created": 1}})
    message(1, "user", {"type": "text", "text": "Build it."})
    message(2, "assistant", running)
    assert recorded() > 0
    assert recorded() == 0
    done = running | {"state": {**running["state"], "status": "completed", "output": "Built."}}
    message(2, "assistant", done, {"type": "text", "text": "It is built."}, completed=9)
    assert recorded() == 2
    for number in (1, 2):
        (storage / f"message/ses_1/msg_{number}.json").unlink()
    message(3, "user", {"type": "text", "text": "Test it instead."})
    message(4, "assistant", {"type": "text", "text": "Tested."}, completed=12)
    assert recorded() > 0
    assert {"Built.", "It is built.", "Test it instead."} <= {
        each for each in said() if isinstance(each, str)
    }


@pytest.mark.recordings
def test_redacted_lines_become_the_same_steps(recordings: Path) -> None:
    two_words = {"name": "words", "pattern": "[A-Za-z]+ [A-Za-z]+"}
    edit = redaction({"name": "test", "rules": {"detect": ["email"], "patterns": [two_words]}})

    def steps_of(format_name: str, lines: list[str]) -> list[Any]:
        (session,) = read_lines(FORMATS[format_name], lines).sessions
        places: dict[Any, int] = {each.id: at for at, each in enumerate(session.actions)}
        return [
            (
                places.get(each.parent),
                each.kind,
                each.tool,
                each.call_id,
                each.model,
                each.usage,
                each.started_at,
            )
            for each in session.actions
        ]

    for format_name, name in REAL:
        lines = (recordings / name).read_text().splitlines()
        sent = [edited(each, edit) for each in lines]
        assert "[withheld: words]" in "".join(sent)
        assert steps_of(format_name, sent) == steps_of(format_name, lines)


class Answering(BaseHTTPRequestHandler):
    """Answers every request with one status."""

    status = 500

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"code": "no", "message": "Not today.", "facts": {}}).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def unwilling(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Answering]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("TIMEMACHINE_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("TIMEMACHINE_API_KEY", "tmk_test")
        yield Answering
        server.shutdown()


def test_a_refusal_is_one_line_and_the_exit_code_one(
    terminal: Terminal, claude: Path, unwilling: type[Answering]
) -> None:
    for number in (1, 2):
        write(claude / f"s-{number}.jsonl", ASKED, ANSWERED)
    for status, what in (
        (401, "Not today."),
        (413, "2 problems."),
        (500, "2 problems."),
        (503, "Not today."),
    ):
        unwilling.status = status
        ran = terminal.run("watch", "claude-code", "--once")
        assert (ran.code, ran.err.count("\n")) == (1, 1), ran
        assert what in ran.err


def test_without_room_for_its_state_everything_is_recorded_and_it_says_so(
    tm: Here, claude: Path, tmp_path: Path
) -> None:
    write(claude / "s-1.jsonl", ASKED, ANSWERED)
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "watch").write_text("This is no folder.")
    ran = tm.run("watch", "claude-code", "--once")
    assert (ran.code, ran.err.count("\n"), Action.objects.count()) == (1, 1, 3)
    assert "cannot store how far it was sent" in ran.err
    tm.run("watch", "claude-code", "--once")
    assert Action.objects.count() == 3
