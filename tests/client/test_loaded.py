"""Loading a recording from a ZIP works without a server and opens nothing unsafe."""

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.client.conftest import Served
from timemachine.client import load_session
from timemachine.client.errors import NotFound, NotUnderstood

EVENTS = [
    {"layer": "sys", "event_type": "file.open", "data": {"path": "/x"}},
    {"layer": "tool", "event_type": "tool.call"},
    {"layer": "agent", "event_type": "message"},
    {"layer": "sys", "event_type": "http.get"},
]
SNAPSHOTS = [
    {
        "state": {
            "messages": [{"role": "user", "content": "hi"}],
            "system_prompt": "Be kind.",
            "mood": "good",
        },
        "model": "m",
    },
    {"agent": {"messages": [1, 2]}},
    {"agent_messages": [1, 2, 3]},
]


class Agent:
    """An agent that resumes."""

    messages: list[Any]
    system_prompt = ""


class Runs:
    """A pickle that would run code."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("session.pkl was opened",))


def packed(**members: bytes) -> bytes:
    """An archive; `__` in a name stands for a dot."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return target.getvalue()


def lines(events: list[Any]) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in events) + b"\n"


def test_events_are_read_by_layer_and_an_agent_resumes_from_a_snapshot(tmp_path: Path) -> None:
    data = packed(
        events__jsonl=lines(EVENTS) + b"{broken\n[]\n",
        snapshots__json=json.dumps(SNAPSHOTS).encode(),
        metadata__json=b'{"session_id": "s"}',
        session__pkl=pickle.dumps(Runs()),
    )
    (tmp_path / "recording.zip").write_bytes(data)
    found = load_session(tmp_path / "recording.zip")
    assert [each["event_type"] for each in found.get_events_by_layer("sys")] == ["file.open", "http.get"]
    assert (found.metadata, found.skipped, len(found.events)) == ({"session_id": "s"}, [5, 6], 4)
    agent = Agent()
    resumed = found.resume_from_snapshot(1, agent=agent)
    assert (resumed["messages_restored"], resumed["model"], resumed["step"]) == (1, "m", None)
    assert (agent.messages, agent.system_prompt) == ([{"role": "user", "content": "hi"}], "Be kind.")
    agent.messages.append("more")
    assert found.resume_from_snapshot(1)["messages_restored"] == 1
    assert [found.resume_from_snapshot(number)["messages_restored"] for number in (2, 3)] == [2, 3]
    for number in (4, 0, -1):
        with pytest.raises(NotFound, match="no snapshot"):
            found.resume_from_snapshot(number)


def test_a_snapshot_is_found_by_its_id() -> None:
    data = packed(
        events__jsonl=b"",
        snapshots__json=b'{"snapshots": [{"id": 7, "messages": [1]}, {"id": 0, "messages": []}]}',
    )
    found = load_session(data)
    assert found.resume_from_snapshot(7)["messages_restored"] == 1
    assert found.resume_from_snapshot(0)["messages_restored"] == 0
    with pytest.raises(NotFound):
        found.resume_from_snapshot(1)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "^These bytes are empty. .*--format zip"),
        (b"no archive", "not a ZIP archive .*session import FILE"),
        (packed(events__jsonl=b"")[:-30], "truncated"),
        (packed(metadata__json=b"{}"), r"no events\.jsonl"),
        (packed(**{"../events__jsonl": b"{}"}), "outside the archive"),
        (packed(events__jsonl=b"", snapshots__json=b"{half"), "not JSON"),
    ],
)
def test_an_invalid_or_unsafe_archive_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(NotUnderstood, match=says):
        load_session(data)


def test_a_decompression_bomb_is_refused() -> None:
    with pytest.raises(NotUnderstood, match="times its size"):
        load_session(packed(events__jsonl=b"0" * 300_000_000))


@pytest.mark.parametrize(("content", "says"), [("", "is empty"), ('{"a": 1}', "is not a ZIP archive")])
def test_a_path_that_is_not_a_file_is_named(tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "run.zip"
    file.write_text(content)
    with pytest.raises(NotUnderstood, match=f"^{file} {says}"):
        load_session(file)


def test_an_exported_recording_is_loaded(served: Served, tmp_path: Path) -> None:
    tm = served.machine()
    with tm.session("Exported", key="exported") as s:
        s.event("file.open", {"path": "/x"}, layer="sys")
        s.checkpoint("here", {"messages": [1, 2], "system_prompt": "p"})
        s.checkpoint(messages=[1, 2, 3])
    tm.client.sessions.export("exported", str(tmp_path / "e.zip"), format="zip")
    found = load_session(tmp_path / "e.zip")
    agent = Agent()
    assert len(found.get_events_by_layer("sys")) == 1
    assert found.resume_from_snapshot(1, agent=agent)["messages_restored"] == 2
    assert (agent.messages, found.metadata["key"]) == ([1, 2], "exported")
    assert [(each["id"], each["sequence"], each["name"]) for each in found.snapshots] == [
        (1, 2, "here"),
        (2, 3, None),
    ]
    assert found.resume_from_snapshot(2)["step"] == 3


def test_an_agent_continues_from_a_snapshot_without_a_server() -> None:
    data = packed(events__jsonl=b"", snapshots__json=json.dumps(SNAPSHOTS).encode())

    class Answering(Agent):
        def __call__(self, query: str) -> str:
            self.messages.append({"role": "user", "content": query})
            return f"{len(self.messages)} messages"

    agent = Answering()
    continued = load_session(data).resume_and_continue(1, "And now?", agent)
    assert (continued["result"], continued["query"], continued["snapshot"]) == (
        "2 messages",
        "And now?",
        1,
    )
    assert agent.messages[-1] == {"role": "user", "content": "And now?"}
    with pytest.raises(NotFound):
        load_session(data).resume_and_continue(9, "And now?", agent)
