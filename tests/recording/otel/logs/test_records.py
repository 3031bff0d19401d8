"""Log records are read as spans, alike in both encodings, with ids that depend on what they say."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from tests.recording.importing.test_traces import outline, read
from tests.recording.otel.logs.made import (
    BEGAN,
    FAILURE,
    PROMPT,
    REQUEST,
    RUN,
    SECOND,
    TOOL,
    logs,
    logs_as_json,
    of_claude_code,
    record,
)
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.recording.otel.pure import decoding
from timemachine.recording.otel.pure.decoding import Refused
from timemachine.recording.otel.pure.drafts import draft_of
from timemachine.recording.otel.pure.log_decoding import logs_from_json, logs_from_protobuf
from timemachine.recording.otel.pure.log_records import LEFT_OUT
from timemachine.recording.otel.pure.message_events import with_messages
from timemachine.recording.otel.pure.repeats import repeats_of
from timemachine.recording.otel.pure.span import Span
from timemachine.recording.otel.pure.sums import counted_once, settled
from timemachine.recording.sessions.pure.draft import ActionDraft

EVENT = "gen_ai.user.message"


def spans(*records: LogRecord, scope: str = "lib") -> list[Span | Refused]:
    """What the records become, which is the same in both encodings."""
    made = logs(*records, scope=scope)
    found = list(logs_from_protobuf(made.SerializeToString()))
    assert found == list(logs_from_json(logs_as_json(made)))
    return found


def span(made: LogRecord, scope: str = "lib") -> Span:
    (found,) = spans(made, scope=scope)
    assert isinstance(found, Span)
    return found


def reason(made: LogRecord, scope: str = "lib") -> str:
    (found,) = spans(made, scope=scope)
    assert isinstance(found, Refused)
    return found.reason


def test_a_record_of_claude_code_is_a_span_that_ended_when_it_was_written() -> None:
    found = span(REQUEST)
    assert (found.name, found.parent, found.record) == ("claude_code.api_request", None, 2)
    assert (found.began, found.ended) == (BEGAN + 6 * SECOND, BEGAN + 10 * SECOND)
    assert found.document["observed_time_unix_nano"] == BEGAN + 10 * SECOND
    assert "body" not in found.document
    assert (found.resource["service.name"], found.scope["name"]) == ("claude-code", "lib")
    assert span(PROMPT).ended == 0


def test_the_id_depends_on_what_a_record_says_and_not_on_its_batch() -> None:
    assert [each.id for each in spans(*RUN) if isinstance(each, Span)] == [span(each).id for each in RUN]
    assert len({span(each).id for each in RUN}) == len(RUN)
    assert len({span(each).trace for each in RUN}) == 1
    other = of_claude_code(
        "user_prompt", 1, prompt="Fix the roof", prompt_length="12", **{"session.id": "other"}
    )
    assert span(other).trace != span(PROMPT).trace


@pytest.mark.parametrize("lasted", ["-1", "1e30", "long"])
def test_an_impossible_duration_is_not_recorded(lasted: str) -> None:
    found = draft_of(span(of_claude_code("api_request", 1, duration_ms=lasted)))
    assert found.duration_ms is None
    assert found.started_at is not None


@pytest.mark.parametrize(
    ("scope", "made", "name"),
    [
        ("lib", record("claude_code.tool_result", {"session.id": "a"}), "claude_code.tool_result"),
        ("lib", record("", {"session.id": "a", "event.name": "claude_code.auth"}), "claude_code.auth"),
        ("com.anthropic.claude_code", record("auth", {"session.id": "a"}), "claude_code.auth"),
        ("com.anthropic.claude_code", record("", {"session.id": "a"}, body="auth"), "claude_code.auth"),
        ("com.anthropic.claude_code", record("", {"session.id": "a"}), None),
        ("lib", record("auth", {"session.id": "a"}), None),
        ("lib", record("", {"session.id": "a"}, body="gen_ai. is not installed"), None),
        ("lib", record("", {"session.id": "a"}, body="claude_code." + "x" * 80), None),
    ],
)
def test_an_event_is_known_by_its_name_its_body_or_its_attribute(
    scope: str, made: LogRecord, name: str | None
) -> None:
    if name is None:
        assert reason(made, scope) == LEFT_OUT
    else:
        assert span(made, scope).name == name


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"trace_id": b"\x01"}, "Its trace ID must be 16 bytes."),
        ({"trace_id": b"\x01" * 16, "span_id": b"\x01"}, "Its span ID must be 8 bytes."),
        ({"time_unix_nano": 2**64 - 1}, "Its time must be before the year 2262."),
    ],
)
def test_a_record_with_invalid_ids_or_times_is_refused(change: dict[str, Any], says: str) -> None:
    odd = LogRecord(**change)
    odd.MergeFrom(LogRecord(body=PROMPT.body, attributes=PROMPT.attributes))
    assert reason(odd) == says


def test_a_record_without_a_session_belongs_to_its_trace_or_is_refused() -> None:
    assert reason(record(EVENT)) == "It does not name a session or a trace."
    placed = span(record(EVENT, trace=7))
    assert (placed.trace, placed.parent) == (f"{7:032x}", None)
    zeros = record(EVENT, {"gen_ai.conversation.id": "talk"})
    zeros.trace_id, zeros.span_id = b"\0" * 16, b"\0" * 8
    assert span(zeros).parent is None


def test_an_event_of_the_conventions_has_its_messages_and_not_the_numbers_of_its_span() -> None:
    details = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5, "app.part": "desk"}
    inside = span(record(EVENT, details, trace=1, span=2, body={"content": "Hello"}))
    assert inside.attributes == {"app.part": "desk"}
    assert inside.parent == f"{2:016x}"
    assert draft_of(inside).input == [
        {"role": "user", "content": "Hello", "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5}
    ]
    text = draft_of(span(record(EVENT, trace=1, span=2, body="Hello")))
    assert text.input == [{"role": "user", "content": "Hello"}]
    alone = draft_of(span(record(EVENT, details, trace=1)))
    assert alone.kind == "llm_call"


def test_a_body_without_a_known_form_is_kept_in_the_source() -> None:
    made = of_claude_code("api_request_body", 1)
    made.body.CopyFrom(record("", body={"stream": True}).body)
    made.event_name = "claude_code.api_request_body"
    made.severity_text = "INFO"
    found = span(made)
    assert (found.document["body"], found.document["severity"]) == ({"stream": True}, "INFO")


def test_a_document_is_read_as_far_as_it_can_be() -> None:
    good = json.loads(logs_as_json(logs(PROMPT)))
    records = good["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    records += [7, {"timeUnixNano": "x"}, {"attributes": [{"key": "a", "value": {"stringValue": 1}}]}]
    one, two, three = logs_from_json(json.dumps(good).encode())
    assert isinstance(one, Span)
    assert isinstance(two, Refused)
    assert two.span == "Log record 2 of the request"
    assert two.reason.startswith("It cannot be read: ")
    assert isinstance(three, Refused)
    assert list(logs_from_json(b"{}")) == []
    for body in (b"[]", b'{"resourceLogs": 7}'):
        with pytest.raises(InvalidInput, match="resourceLogs"):
            list(logs_from_json(body))
    with pytest.raises(InvalidInput, match="ExportLogsServiceRequest"):
        list(logs_from_protobuf(b"\xff"))


def test_failures_are_those_that_a_record_states() -> None:
    failed, failure, worked = (
        draft_of(span(each))
        for each in (TOOL, FAILURE, of_claude_code("tool_result", 1, tool_name="Bash", success="true"))
    )
    assert (failed.error_type, failed.error_message) == ("error", "Exit code 1")
    assert (failure.error_type, failure.error_message) == ("529", "Overloaded")
    assert (worked.error_type, worked.kind) == (None, "tool_call")
    typed = of_claude_code("tool_result", 1, success=False, error_type="ShellError")
    assert draft_of(span(typed)).error_type == "ShellError"


def test_what_a_tool_was_given_precedes_what_is_said_about_it() -> None:
    made = of_claude_code("tool_result", 1, tool_parameters='{"a": 1}', tool_input='{"command": "ls"}')
    assert draft_of(span(made)).input == {"command": "ls"}


def tool(name: str, number: int, parent: ActionDraft | None = None) -> ActionDraft:
    around = None if parent is None else parent.id
    return ActionDraft(
        kind="tool_call", name=name, tool="Bash", call_id="toolu_1", id=f"t-{number}", parent=around
    )


def test_a_tool_call_that_was_also_logged_is_one_call_in_any_order() -> None:
    call, logged = tool("claude_code.tool", 1), tool("claude_code.tool_result", 2)
    assert [each.kind for each in counted_once([logged, call])] == ["event", "tool_call"]
    assert [each.kind for each in settled([logged], [call])] == ["event"]
    assert [each.kind for each in settled([call], [logged])] == ["event"]
    assert [each.kind for each in settled([logged], [])] == ["tool_call"]


def test_a_logged_tool_call_inside_its_span_needs_no_id() -> None:
    call = replace(tool("claude_code.tool", 1), call_id=None)
    logged = replace(tool("claude_code.tool_result", 2, call), call_id=None)
    assert repeats_of([call, logged], []).calls == {"t-2": "t-1"}


def test_calls_have_the_messages_of_the_events_inside_them() -> None:
    call = ActionDraft(kind="llm_call", id="t-1", model="m", cost_usd=Decimal(1))
    event = draft_of(span(record(EVENT, body={"content": "Hello"}, trace=1, span=2)))
    inside = replace(event, parent="t-1")
    assert with_messages([call, event]) == [call, event]
    (told, same) = with_messages([call, inside])
    assert (told.input, told.output, same) == ([{"role": "user", "content": "Hello"}], None, inside)
    assert with_messages([call], [("t-1", inside.source)]) == [told]
    assert with_messages([call], [("t-1", {"events": 7}), ("t-1", None)]) == [call]
    assert with_messages([replace(call, input="a", output="b"), inside])[0].input == "a"
    asked = replace(call, input="a")
    assert with_messages([asked, inside])[0].input == "a"
    answer = record("gen_ai.choice", body={"message": {"content": "Ten."}}, trace=1, span=2)
    answered = replace(draft_of(span(answer)), parent="t-1")
    assert with_messages([asked, answered])[0].output == "Ten."
    assert with_messages([replace(call, output="b"), answered])[0].output == "b"


def test_a_file_can_have_both_spans_and_logs() -> None:
    (session,) = read("otlp_json", logs_as_json(logs(*RUN, record("app.started")))).sessions
    assert outline(session.actions) == [
        ("message", "user", "claude_code.user_prompt"),
        ("llm_call", "agent", "claude_code.api_request"),
        ("event", None, "claude_code.tool_decision"),
        ("tool_call", "tool", "Bash"),
        ("event", None, "claude_code.api_error"),
    ]
    with pytest.raises(InvalidInput, match="no log records from an agent"):
        read("otlp_json", logs_as_json(logs(record("app.started"))))


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2025-10-09T08:53:21.500Z", BEGAN + SECOND * 3 // 2),
        ("yesterday", BEGAN + SECOND),
        ("0001-01-01", BEGAN + SECOND),
    ],
)
def test_a_record_without_a_time_has_that_of_its_event_or_when_it_was_observed(written: str, at: int) -> None:
    made = of_claude_code("user_prompt", 1, **{"event.timestamp": written})
    made.time_unix_nano = 0
    assert span(made).began == at


def test_a_request_with_too_many_records_is_refused_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decoding, "MOST_SPANS", 2)
    made = logs(PROMPT, REQUEST, TOOL)
    for found in (logs_from_protobuf(made.SerializeToString()), logs_from_json(logs_as_json(made))):
        with pytest.raises(TooLarge, match="at most 2 log records"):
            list(found)
