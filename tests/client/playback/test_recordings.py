"""Recordings that cannot be played back are refused, with the reason and what to do."""

import base64
import json
import zipfile
from pathlib import Path

import pytest

from tests.client.playback.agents import exported, recorded
from timemachine.client.errors import NotUnderstood
from timemachine.client.playback.recordings import read_recording


def archive(folder: Path, **members: str) -> Path:
    """Write an archive with these members, whose names end in .json or .jsonl."""
    file = folder / "run.zip"
    with zipfile.ZipFile(file, "w") as made:
        for name, content in members.items():
            made.writestr(name.replace("_json", ".json"), content)
    return file


def test_the_key_and_the_calls_of_an_export_are_read(tmp_path: Path) -> None:
    found = read_recording(exported(tmp_path, {"kind": "event"}, *recorded("chat"), key="refund"))
    assert (found.key, [call.sequence for call in found.calls]) == ("refund", [2, 3])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "It is not a Time Machine session export."),
        (b"[1]\n", "Line 1 is not a JSON object."),
        (b"no", "Line 1 is not JSON"),
        (b'{"format": "other"}\n', "It is not a Time Machine session export."),
        (
            b'{"format": "timemachine-session", "key": "a", "through": 2}\n{"sequence": 1}\n',
            "It is truncated",
        ),
    ],
)
def test_other_files_are_refused(content: bytes, why: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(NotUnderstood) as raised:
        read_recording(file)
    assert raised.value.message.startswith(f"{file} cannot be played back: {why}")
    assert raised.value.message.endswith("Write a file with `timemachine session export ID -o FILE`.")


def test_an_archive_of_another_tool_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotUnderstood, match=r"has neither events\.jsonl nor statement\.json"):
        read_recording(archive(tmp_path, a_json="{}"))
    with pytest.raises(NotUnderstood, match="Another tool wrote it"):
        read_recording(archive(tmp_path, events_jsonl='{"layer": "agent"}\n', metadata_json="{}"))


HEAD = '{"format": "timemachine-session", "key": "a", "through": 1}\n'


@pytest.mark.parametrize(
    "content",
    [
        '{"format": "timemachine-session", "through": "all"}',
        HEAD + '{"sequence": 1}',
        HEAD + '{"sequence": 1, "kind": "llm_call", "error": "no"}',
        HEAD + '{"sequence": 1, "kind": "llm_call", "parent": {}}',
        HEAD + '{"sequence": 1, "kind": "llm_call", "output": "a", "model": 5}',
    ],
)
def test_a_damaged_file_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(content)
    with pytest.raises(NotUnderstood, match="It is damaged"):
        read_recording(file)


@pytest.mark.parametrize("predicate", [{}, {"predicate": {"trees": [{"of": "session"}]}}])
def test_a_damaged_archive_is_refused(predicate: object, tmp_path: Path) -> None:
    events = '{"action": {"sequence": 1, "kind": "llm_call"}}\n'
    with pytest.raises(NotUnderstood, match="It is damaged"):
        read_recording(archive(tmp_path, events_jsonl=events, metadata_json="[]"))
    payload = base64.b64encode(json.dumps(predicate).encode()).decode()
    with pytest.raises(NotUnderstood, match="It is damaged"):
        read_recording(archive(tmp_path, statement_json=json.dumps({"payload": payload})))


def test_a_bundle_of_several_sessions_is_refused(tmp_path: Path) -> None:
    trees = [{"of": "session", "path": name, "id": name} for name in ("a", "b")]
    stated = base64.b64encode(json.dumps({"predicate": {"trees": trees}}).encode()).decode()
    with pytest.raises(NotUnderstood, match="It is a bundle of 2 sessions"):
        read_recording(archive(tmp_path, statement_json=json.dumps({"payload": stated})))
