"""Sessions of Goose."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tests.recording.importing.chats.samples import GOOSE, GOOSE_LINES, GOOSE_MESSAGES
from tests.recording.importing.sample_files import document, lines, read
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.pure.draft import Usage


@pytest.mark.parametrize(
    "data", [document(GOOSE), document({**GOOSE, "conversation": {"messages": GOOSE_MESSAGES}})]
)
def test_an_export_has_its_messages_calls_and_results(data: bytes) -> None:
    (session,) = read(data).sessions
    assert (session.key, session.name, session.metadata["model"]) == ("20260301_1", "Users", "gpt-x")
    assert [(each.kind, each.role, each.name or each.tool) for each in session.actions] == [
        ("message", "user", None),
        ("llm_call", "agent", None),
        ("message", "agent", "thinking"),
        ("message", "agent", None),
        ("tool_call", "agent", "find"),
        ("tool_call", "agent", None),
        ("tool_call", "agent", "look"),
        ("tool_result", "tool", "find"),
        ("tool_result", "tool", None),
        ("tool_result", "tool", "look"),
        ("event", "user", "systemNotification"),
        ("llm_call", "agent", None),
        ("event", "system", "session"),
    ]
    call, refused, _, failed, unknown, found = session.actions[4:10]
    assert (call.input, failed.parent, failed.error_message) == ({"id": 7}, call.id, "none")
    assert (refused.error_message, unknown.error_message) == ("no such tool", "no such tool")
    assert found.output == [{"type": "text", "text": "Zoë"}]
    assert failed.started_at == datetime(2026, 3, 1, 10, 0, 2, tzinfo=UTC)
    assert session.actions[11].tags == ("meta",)


def test_tokens_and_cost_are_those_of_the_whole_session() -> None:
    (session,) = read(document(GOOSE)).sessions
    end = session.actions[-1]
    assert end.usage == Usage(input_tokens=140, output_tokens=20, total_tokens=160)
    assert end.cost_usd == Decimal("0.02")
    calls = [each for each in session.actions if each.kind == "llm_call"]
    assert [(each.model, each.usage, each.cost_usd) for each in calls] == [(None, None, None)] * 2


def test_the_last_call_is_not_taken_for_the_whole_session() -> None:
    (session,) = read(lines(*GOOSE_LINES)).sessions
    assert session.name == "Users"
    assert [each.usage for each in session.actions] == [None] * 13


def test_lines_without_a_head_and_several_exports_are_read() -> None:
    (bare,) = read(lines(*GOOSE_MESSAGES)).sessions
    assert bare.actions[-1].kind == "llm_call"
    assert len(read(lines(GOOSE, {**GOOSE, "id": "2"})).sessions) == 2


def test_a_file_without_messages_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no Goose message"):
        read(document([7]), "goose")
