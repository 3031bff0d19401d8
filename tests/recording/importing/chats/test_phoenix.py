"""Spans of Phoenix as sessions."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.recording.importing.chats.span_samples import PHOENIX_API, PHOENIX_ROWS
from tests.recording.importing.sample_files import document, lines, read
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.pure.draft import ActionDraft


def actions(data: bytes) -> tuple[ActionDraft, ...]:
    (session,) = read(data).sessions
    return session.actions


@pytest.mark.parametrize(
    "data",
    [
        lines(*PHOENIX_ROWS),
        document(PHOENIX_ROWS),
        document(PHOENIX_API),
        document({"spans": PHOENIX_API["data"]}),
        lines(PHOENIX_API),
    ],
)
def test_rows_and_objects_are_the_same_spans(data: bytes) -> None:
    agent, call, tool = actions(data)
    assert [agent.kind, call.kind, tool.kind] == ["event", "llm_call", "tool_call"]
    assert (call.parent, tool.parent) == (agent.id, agent.id)
    assert call.model == "openai:gpt-x"
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.output_tokens) == (50, 5)
    assert call.started_at == datetime(2026, 3, 1, 10, 0, 1, tzinfo=UTC)
    assert call.duration_ms == 1500
    assert "Who is 7?" in str(call.input)
    assert (tool.tool, tool.error_message) == ("find", "no 7")


def test_the_session_of_the_spans_is_kept() -> None:
    (session,) = read(lines(*PHOENIX_ROWS)).sessions
    assert session.key == "ph1"


@pytest.mark.parametrize(
    ("start", "second"), [(1_772_359_201_000, 1), (1_772_359_201, 1), (None, None), ("x", None)]
)
def test_times_are_read_in_their_units(start: Any, second: int | None) -> None:
    found = actions(lines({**PHOENIX_ROWS[1], "start_time": start}))
    assert (found[0].started_at.second if found[0].started_at else None) == second


def test_rows_without_a_context_are_skipped_and_a_file_without_spans_is_refused() -> None:
    assert len(read(document({"data": [*PHOENIX_API["data"], "half"]})).report.skipped) == 1
    assert len(read(document({"spans": [*PHOENIX_API["data"], "half"]})).report.skipped) == 1
    with pytest.raises(InvalidInput, match="no spans that can be recorded"):
        read(document({"spans": [7]}), "phoenix")


def test_a_span_without_an_id_gets_one_from_its_content() -> None:
    first = {name: value for name, value in PHOENIX_ROWS[1].items() if name != "context.span_id"}
    assert len(actions(lines(first, {**first, "name": "again"}))) == 2


def test_a_span_without_a_kind_is_judged_by_its_attributes() -> None:
    (call,) = actions(lines({name: value for name, value in PHOENIX_ROWS[1].items() if name != "span_kind"}))
    assert call.usage is not None
    assert call.usage.input_tokens == 50
