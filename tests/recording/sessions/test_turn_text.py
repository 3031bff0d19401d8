"""A recorded step as text and as chat messages: a table of cases."""

from datetime import UTC, datetime
from typing import Any

import pytest

from timemachine.recording.sessions.pure.turn_text import Deleted, Turn, messages_of, omission_mark, text_of

CALL = [{"role": "assistant", "content": "Before."}, {"role": "user", "content": "Now?"}]


@pytest.mark.parametrize(
    ("turn", "text", "messages"),
    [
        ({"kind": "message", "role": "agent", "input": "In."}, "[3] agent: In.", [("assistant", "In.")]),
        ({"kind": "message"}, "[3] message: ", []),
        (
            {"kind": "message", "role": "system", "output": {"a": 1}},
            '[3] system: {"a": 1}',
            [("system", '{"a": 1}')],
        ),
        (
            {"kind": "message", "role": "user", "output": "Hm", "significance": "normal"},
            "[3] user: Hm",
            [("user", "Hm")],
        ),
        (
            {"kind": "message", "role": "user", "output": "Hm", "significance": "decision"},
            "[3] user, decision: Hm",
            [("user", "Hm")],
        ),
        (
            {"kind": "message", "role": "user", "output": "Hm", "significance": "decision", "copied": True},
            "[3] user, copied, decision: Hm",
            [("user", "Hm")],
        ),
        (
            {"kind": "message", "role": "user", "error": (None, "cut")},
            "[3] user: ! cut",
            [("user", "! cut")],
        ),
        (
            {"kind": "ask", "input": "Why?", "error": ("Timeout", "10 s")},
            "[3] ask: Why?\n! Timeout: 10 s",
            [("user", "Why?"), ("assistant", "! Timeout: 10 s")],
        ),
        (
            {"kind": "llm_call", "name": "plan", "input": CALL, "output": "Yes."},
            "[3] model plan: Now?\n→ Yes.",
            [("user", "Now?"), ("assistant", "Yes.")],
        ),
        (
            {
                "kind": "llm_call",
                "input": {"messages": CALL},
                "output": [{"type": "text", "text": "Yes."}, {"x": 1}],
            },
            '[3] model: Now?\n→ Yes.\n{"x": 1}',
            [("user", "Now?"), ("assistant", 'Yes.\n{"x": 1}')],
        ),
        (
            {
                "kind": "llm_call",
                "input": "A prompt",
                "output": {"content": None, "tool_calls": [{"id": "c"}]},
            },
            '[3] model: A prompt\n→ {"tool_calls": [{"id": "c"}]}',
            [("user", "A prompt"), ("assistant", '{"tool_calls": [{"id": "c"}]}')],
        ),
        ({"kind": "llm_call", "output": "Alone."}, "[3] model: Alone.", [("assistant", "Alone.")]),
        (
            {"kind": "tool_result", "name": "look", "output": [1, "ä"]},
            '[3] result of look: [1, "ä"]',
            [("user", 'result of look: [1, "ä"]')],
        ),
        ({"kind": "find", "input": "fees"}, "[3] find: fees", [("assistant", "find: fees")]),
        (
            {"kind": "checkpoint", "name": "before"},
            "[3] checkpoint before: ",
            [("user", "checkpoint before: ")],
        ),
    ],
)
def test_a_step_is_text_and_chat_messages(
    turn: dict[str, Any], text: str, messages: list[tuple[str, str]]
) -> None:
    found = Turn(sequence=3, **turn)
    assert text_of(found) == text
    assert [(each["role"], each["content"]) for each in messages_of(found)] == messages


def test_a_deleted_turn_shows_when_it_was_deleted() -> None:
    deleted = Deleted(at=datetime(2026, 11, 23, 17, 5, tzinfo=UTC), by="ada", reason="a name")
    assert deleted.moment == "deleted 2026-11-23 17:05 UTC"
    assert deleted.as_json() == {"at": "2026-11-23T17:05:00Z", "by": "ada", "reason": "a name"}
    turn = Turn(sequence=3, kind="checkpoint", deleted=deleted)
    assert messages_of(turn) == [{"role": "user", "content": "checkpoint: [deleted 2026-11-23 17:05 UTC]"}]


@pytest.mark.parametrize(("turns", "mark"), [(1, "[1 turn left out]"), (1_200, "[1,200 turns left out]")])
def test_omitted_turns_leave_a_mark(turns: int, mark: str) -> None:
    assert omission_mark(turns) == mark
