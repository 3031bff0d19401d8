"""Two Claude Code sessions recorded by other people."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.recording.importing.sample_files import read
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.pure.draft import ActionDraft

pytestmark = pytest.mark.recordings
FILES = ["session_a.jsonl", "session_b.jsonl"]
COUNTS = {
    "session_a.jsonl": {
        "lines": 49, "user message": 2, "agent message": 4, "thinking": 0, "llm_call": 10, "tool_call": 23,
        "tool_result": 20, "failed tool_result": 0, "event": 0,
        "input_tokens": 208_328, "output_tokens": 833, "total_tokens": 209_161, "cached_tokens": 185_540,
        "cache_write_tokens": 21_565,
    },
    "session_b.jsonl": {
        "lines": 41, "user message": 9, "agent message": 6, "thinking": 0, "llm_call": 11, "tool_call": 10,
        "tool_result": 10, "failed tool_result": 1, "event": 6,
        "input_tokens": 371_011, "output_tokens": 107, "total_tokens": 371_118, "cached_tokens": 307_871,
        "cache_write_tokens": 63_095,
    },
}  # fmt: skip


def the_session(path: Path) -> SessionDraft:
    (session,) = read(path.read_bytes(), None, path.name).sessions
    return session


def raw_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def word_for(action: ActionDraft) -> str:
    if action.name == "thinking":
        return "thinking"
    return f"{action.role} message" if action.kind == "message" else action.kind


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_accounted_for_and_nothing_is_skipped(recordings: Path, name: str) -> None:
    path = recordings / "claude_code" / name
    report = read(path.read_bytes()).report
    sources = [action.source for action in the_session(path).actions if action.source is not None]
    stored = [line for source in sources for line in (source if isinstance(source, list) else [source])]

    assert (report.lines, report.skipped) == (COUNTS[name]["lines"], [])
    assert sorted(map(json.dumps, stored)) == sorted(map(json.dumps, raw_lines(path)))


@pytest.mark.parametrize("name", FILES)
def test_actions_and_tokens_match_the_counts(recordings: Path, name: str) -> None:
    actions = the_session(recordings / "claude_code" / name).actions
    found = Counter(word_for(action) for action in actions)
    found["failed tool_result"] = sum(action.error_type == "tool_error" for action in actions)
    for action in actions:
        for part in ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_write_tokens"):
            found[part] += getattr(action.usage, part) if action.usage else 0

    expected = {word: count for word, count in COUNTS[name].items() if word != "lines"}
    assert {word: found[word] for word in expected} == expected
    assert set(found) <= set(expected)


def blocks_of(line: dict[str, Any]) -> list[dict[str, Any]]:
    content = line.get("message", {}).get("content", [])
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def blocks_in_order(path: Path) -> list[tuple[str, Any]]:
    """The said, called and returned blocks, read directly from the file."""
    return [
        (f"{line['type']} {block['type']}", block.get("text") or block.get("input") or block.get("content"))
        for line in raw_lines(path)
        for block in blocks_of(line)
    ]


@pytest.mark.parametrize("name", FILES)
def test_texts_calls_and_results_are_in_file_order(recordings: Path, name: str) -> None:
    path = recordings / "claude_code" / name
    words = {"tool_call": "assistant tool_use", "tool_result": "user tool_result"}
    labels = {"agent": "assistant text", "user": "user text"}
    found = [
        (words.get(action.kind) or labels[str(action.role)], action.input or action.output)
        for action in the_session(path).actions
        if action.kind in {"message", "tool_call", "tool_result"}
    ]

    assert found == blocks_in_order(path)


@pytest.mark.parametrize("name", FILES)
def test_each_model_call_has_the_last_usage_of_its_message_and_a_known_model(
    recordings: Path, name: str
) -> None:
    path = recordings / "claude_code" / name
    last = {line["message"]["id"]: line["message"] for line in raw_lines(path) if line["type"] == "assistant"}
    calls = [action for action in the_session(path).actions if action.kind == "llm_call"]

    assert [call.source[0]["message"]["id"] for call in calls] == list(last)
    for call, message in zip(calls, last.values(), strict=True):
        assert call.usage is not None
        assert call.model == "anthropic:" + message["model"]
        assert call.usage.output_tokens == message["usage"]["output_tokens"]
        assert call.usage.cached_tokens == message["usage"]["cache_read_input_tokens"]
        assert call.usage.cache_write_tokens == message["usage"]["cache_creation_input_tokens"]
        assert call.usage.input_tokens == sum(
            message["usage"][part]
            for part in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        )


@pytest.mark.parametrize("name", FILES)
def test_every_result_is_a_child_of_its_call(recordings: Path, name: str) -> None:
    actions = the_session(recordings / "claude_code" / name).actions
    calls = {action.id: action for action in actions if action.kind == "tool_call"}
    results = [action for action in actions if action.kind == "tool_result"]

    assert all(
        calls[result.parent].call_id == result.call_id for result in results if isinstance(result.parent, str)
    )
    assert all(calls[str(result.parent)].tool == result.tool for result in results)


def test_the_first_user_message_names_the_session(recordings: Path) -> None:
    session = the_session(recordings / "claude_code" / "session_b.jsonl")
    words = next(
        line
        for line in raw_lines(recordings / "claude_code" / "session_b.jsonl")
        if line.get("uuid") == session.actions[5].id
    )

    assert session.name.endswith("…")
    assert len(session.name) <= 80
    assert words["message"]["content"].startswith(session.name[:-1])
    assert [action.tags for action in session.actions[1:6]] == [("meta",), ("command",), ("command",), (), ()]
    assert len(session.metadata["gitBranch"]) == 3
