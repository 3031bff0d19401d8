"""`proxy --playback`, as a process: from files and from a server."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.terminal import Here, Terminal
from tests.client.playback.agents import AGENTS, ANSWER, QUESTION, exported, recorded
from timemachine.client.client import Client
from timemachine.client.playback.recordings import Recording, read_recording, recording_on
from timemachine.client.server import find_server
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

COMMAND = str(Path(sys.executable).with_name("timemachine"))
CALLS = {
    "content": "Let me look.",
    "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}],
}
LONG = "The sea is calm. " * 2_000


@contextmanager
def running(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command on a free port until the block ends; yield the process and its address without /v1."""
    command = [COMMAND, "proxy", "--port", "0", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield process, line.partition("and ")[2].partition(" for")[0]
        finally:
            process.kill()


def session_of_turns(here: Here) -> Session:
    """Record a run of an agent of which only the turns are known, with what else a session can have."""
    session = start_session(here.project, name="Rome", key="rome", by="test")
    used = Usage(input_tokens=20, output_tokens=8, total_tokens=28)
    append(
        session.id,
        [
            ActionDraft(kind="message", id="asked", role="user", output=QUESTION),
            ActionDraft(kind="checkpoint", name="before", output={"messages": []}),
            ActionDraft(kind="llm_call", id="call", model="openai:gpt-x", output=CALLS, usage=used),
            ActionDraft(
                kind="tool_call", parent="call", call_id="c1", tool="weather", input={"city": "Rome"}
            ),
            ActionDraft(kind="tool_result", parent=4, call_id="c1", tool="weather", output="sunny, 31"),
            ActionDraft(kind="llm_call", model="openai:gpt-x", output=ANSWER, usage=used),
            ActionDraft(
                kind="llm_call",
                input=[{"role": "user", "content": LONG}],
                output=LONG,
                parameters={"temperature": 0},
            ),
            ActionDraft(
                kind="llm_call",
                input=[{"role": "user", "content": LONG}],
                error_type="Timeout",
                error_message="too slow",
            ),
        ],
    )
    return end_session(session.id)


def on_the_server(session: str) -> Recording:
    with Client(find_server(os.environ)) as client:
        return recording_on(client, session)


def test_exports_a_bundle_and_the_server_give_the_same_recording(tm: Here, tmp_path: Path) -> None:
    session_of_turns(tm)
    tm.run("session", "export", "rome", "-o", str(tmp_path / "lines"))
    tm.run("session", "export", "rome", "--format", "zip", "-o", str(tmp_path / "zip"))
    tm.run("evidence", "export", "rome", "-o", str(tmp_path / "bundle"))
    found = on_the_server("rome")
    assert [call.sequence for call in found.calls] == [3, 6, 7, 8]
    assert [call.failed for call in found.calls] == [None, None, None, "Timeout: too slow"]
    for name in ("lines", "zip", "bundle"):
        assert read_recording(tmp_path / name) == found, name


def test_a_session_that_continues_another_is_played_back_with_what_came_before(tm: Here) -> None:
    before = session_of_turns(tm)
    after = start_session(tm.project, name="b", key="b", by="test", parent=(before, 6))
    append(
        after.id,
        [
            ActionDraft(kind="message", role="user", output="Sure?"),
            ActionDraft(kind="llm_call", output="Yes."),
        ],
    )
    (call,) = on_the_server("b").calls
    texts = [message.text for message in call.frozen.request.messages]
    assert texts == [QUESTION, "Let me look.", "", ANSWER, "Sure?"]


def test_a_session_is_played_back_without_the_one_that_it_continues_if_that_is_not_there(tm: Here) -> None:
    after = start_session(tm.project, name="b", key="b", by="test", parent=("elsewhere", 6))
    append(
        after.id,
        [
            ActionDraft(kind="message", role="user", output="Sure?"),
            ActionDraft(kind="llm_call", output="Yes."),
        ],
    )
    (call,) = on_the_server("b").calls
    assert [message.text for message in call.frozen.request.messages] == ["Sure?"]


def test_an_agent_runs_against_a_session_on_the_server(tm: Here) -> None:
    session_of_turns(tm)
    with running("--playback", "rome") as (process, url):
        assert AGENTS["chat"](url) == (ANSWER, 56)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "2 of 4 recorded calls used.\n")


def test_an_agent_runs_against_a_file_without_a_server(terminal: Terminal) -> None:
    file = exported(terminal.folder, *recorded("messages"))
    with running("--playback", str(file), "--start-over") as (_, url):
        assert [AGENTS["messages"](url, streamed=True) for _ in range(2)] == [(ANSWER, 56)] * 2


def test_the_address_is_printed_as_json(terminal: Terminal) -> None:
    file = exported(terminal.folder, *recorded("chat"))
    command = [COMMAND, "proxy", "--playback", str(file), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            while lines[-1] != "}\n":
                lines.append(process.stdout.readline())
        finally:
            process.kill()
    document = "".join(lines)
    assert '"playback": "run"' in document
    assert '/v1"' in document


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{}", "cannot be played back"),
        ('{"format": "timemachine-session", "key": "a", "through": 0}', "a has no model calls"),
    ],
)
def test_a_file_without_model_calls_is_refused(content: str, why: str, terminal: Terminal) -> None:
    ran = terminal.run("proxy", "--playback", terminal.file("a.jsonl", content))
    assert (ran.code, ran.out, why in ran.err, ran.err.count("\n")) == (1, "", True, 1)


def test_a_port_in_use_and_an_unknown_session_are_refused(tm: Here) -> None:
    assert "no session" in tm.refused("proxy", "--playback", "nothing").lower()
    file = exported(tm.folder, *recorded("chat"))
    with running("--playback", str(file)) as (_, url):
        port = url.rpartition(":")[2]
        assert f"Cannot listen on port {port}" in tm.refused("proxy", "--playback", str(file), "--port", port)
