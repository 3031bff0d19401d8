"""Exports of ChatGPT and claude.ai as sessions."""

from datetime import UTC, datetime

import pytest

from tests.recording.importing.chats.export_samples import (
    CHATGPT,
    CHATGPT_ARCHIVE,
    CLAUDE_AI,
    CLAUDE_AI_ARCHIVE,
)
from tests.recording.importing.sample_files import archive, document, read
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.registry import detect_format


def test_a_conversation_of_chatgpt_is_read_branch_after_branch() -> None:
    found = read(document([CHATGPT]))
    (session,) = found.sessions
    assert (session.key, session.name, session.agent) == ("cg1", "Users", "ChatGPT")
    assert [(each.kind, each.role, each.name or each.tool or each.model) for each in session.actions] == [
        ("message", "system", None),
        ("message", "user", None),
        ("llm_call", "agent", "gpt-x"),
        ("message", "agent", "thinking"),
        ("llm_call", "agent", "gpt-x"),
        ("tool_call", "agent", "python"),
        ("tool_result", "tool", "python"),
        ("llm_call", "agent", "gpt-x"),
        ("event", "agent", "reasoning_recap"),
        ("llm_call", "agent", "gpt-x"),
        ("message", "agent", None),
        ("llm_call", "agent", None),
        ("message", "agent", None),
        ("tool_result", "tool", None),
        ("event", "system", "odd"),
        ("message", "user", None),
        ("event", "system", "conversation"),
    ]
    called, returned = session.actions[5:7]
    assert (called.input, returned.parent, returned.error_type) == ("find(7)", called.id, "KeyError")
    assert session.actions[1].started_at == datetime(2026, 3, 1, 10, 0, 0, 500_000, tzinfo=UTC)
    assert session.actions[13].error_type == "Timeout"
    assert session.actions[15].output == [{"asset_pointer": "file"}, "See"]
    assert session.actions[0].tags == ("meta",)
    assert not any(each.usage or each.cost_usd for each in session.actions)


def test_what_is_not_on_the_shown_branch_is_marked() -> None:
    (chatgpt,) = read(document([CHATGPT])).sessions
    marked = [each.output for each in chatgpt.actions if "other_branch" in each.tags]
    assert marked[1] == "Nobody."
    (unknown,) = read(document({**CHATGPT, "current_node": None})).sessions
    assert not any("other_branch" in each.tags for each in unknown.actions)
    (claude,) = read(document([CLAUDE_AI])).sessions
    marked = [each for each in claude.actions if "other_branch" in each.tags]
    assert [(each.kind, each.output) for each in marked] == [("llm_call", None), ("message", "Nobody.")]


def test_a_conversation_of_claude_has_calls_with_their_results() -> None:
    found = read(document([CLAUDE_AI]))
    (session,) = found.sessions
    assert [(each.kind, each.role, each.name or each.tool) for each in session.actions] == [
        ("message", "user", None),
        ("llm_call", "agent", None),
        ("message", "agent", "thinking"),
        ("message", "agent", None),
        ("tool_call", "agent", "find"),
        ("tool_result", "tool", "find"),
        ("llm_call", "agent", None),
        ("tool_call", "agent", "look"),
        ("tool_result", "tool", "look"),
        ("llm_call", "agent", None),
        ("event", "agent", "token_budget"),
        ("llm_call", "agent", None),
        ("message", "agent", None),
        ("event", "system", "conversation"),
    ]
    find, failed, again, look, looked = session.actions[4:9]
    assert (again.id, look.parent) == ("m2/call-2", again.id)
    assert (failed.parent, failed.error_message, looked.parent) == (find.id, "no", look.id)
    assert session.actions[0].output == {"text": "Who is 7?", "attachments": [{"file_name": "a.txt"}]}
    assert session.actions[2].started_at == datetime(2026, 3, 1, 10, 0, 3, tzinfo=UTC)
    assert len(found.report.skipped) == 1


def test_the_archives_that_are_sent_are_read_as_they_are() -> None:
    chatgpt, claude = read(CHATGPT_ARCHIVE), read(CLAUDE_AI_ARCHIVE)
    assert (len(chatgpt.sessions), len(chatgpt.report.skipped)) == (1, 1)
    assert [each.key for each in claude.sessions] == ["ca1"]


@pytest.mark.parametrize("name", ["chatgpt", "claude_ai"])
def test_an_archive_without_a_conversation_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="no conversation with"):
        read(archive({"conversations.json": []}), name) if name == "chatgpt" else read(
            archive({"conversations.json": [], "users.json": []}), name
        )


def test_a_schema_with_a_mapping_is_not_a_conversation() -> None:
    with pytest.raises(InvalidInput):
        detect_format(document({"mapping": {"a": "b"}}))


def test_a_long_conversation_is_read_in_linear_time() -> None:
    mapping = {
        f"n{place}": {
            "parent": f"n{place - 1}" if place else None,
            "message": {"author": {"role": "user"}, "content": {"parts": ["x"]}},
        }
        for place in range(20_000)
    }
    (session,) = read(document({"current_node": "n19999", "mapping": mapping})).sessions
    assert len(session.actions) == 20_001
