"""The log records of Claude Code become the session that it had, whether or not it sends spans, too."""

from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.api.conftest import Program
from tests.recording.otel.logs.conftest import LogExporter
from tests.recording.otel.logs.made import (
    PROMPT,
    REQUEST,
    RUN,
    TOOL,
    inside,
    logs,
    logs_as_json,
    of_claude_code,
)
from tests.recording.otel.spans.test_decoding import as_json, request
from tests.recording.otel.traces.test_sessions_of_traces import made
from tests.recording.otel.traces.test_sums import totals
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db
ONE_CALL = (1, 1100, 20, Decimal("0.0123"), 0)


def steps(api: Program) -> list[dict[str, Any]]:
    found: Any = api.get("/sessions/talk/actions").json()["items"]
    return [each for each in found if "correction" not in (each["name"] or "")]


def as_file(project: Project, body: bytes) -> None:
    import_file(project, body, by="test", filename="logs.json")


@pytest.mark.parametrize("is_file", [False, True])
def test_a_run_becomes_a_session_with_its_steps_in_the_order_of_time(
    exporter: LogExporter, api: Program, project: Project, is_file: bool
) -> None:
    if is_file:
        as_file(project, logs_as_json(logs(*reversed(RUN))))
    else:
        exporter.send_logs(*reversed(RUN))
    prompt, call, decision, tool, failure = steps(api)
    assert (prompt["kind"], prompt["role"], prompt["output"]) == ("message", "user", "Fix the roof")
    assert (call["kind"], call["model"], call["duration_ms"]) == (
        "llm_call",
        "anthropic:claude-sonnet-4-5",
        4000,
    )
    assert call["usage"]["input_tokens"] == 1100
    assert call["usage"]["cached_tokens"] == 1000
    assert call["prices"]["source"] == "stated"
    assert (decision["kind"], decision["output"]) == ("event", "accept")
    assert (tool["kind"], tool["tool"], tool["call_id"]) == ("tool_call", "Bash", "toolu_1")
    assert tool["input"] == {"bash_command": "make"}
    assert tool["error"] == {"type": "error", "message": "Exit code 1"}
    assert failure["error"] == {"type": "529", "message": "Overloaded"}
    assert failure["model"] is None
    assert totals() == ONE_CALL
    began = Action.objects.get(name="claude_code.api_request").started_at
    assert began is not None
    assert began.timestamp() == 1_760_000_006
    session = Session.objects.get(key="talk")
    assert session.started_at.timestamp() == 1_760_000_001
    assert session.name == ("claude-code" if is_file else "talk")


@pytest.mark.parametrize("prompt", [{}, {"prompt": "<REDACTED>"}])
def test_a_prompt_that_was_not_sent_is_not_recorded(
    exporter: LogExporter, api: Program, prompt: dict[str, str]
) -> None:
    exporter.send_logs(of_claude_code("user_prompt", 1, prompt_length="12", **prompt))
    (found,) = steps(api)
    assert (found["kind"], found["role"], found["output"]) == ("message", "user", None)
    assert found["source"]["attributes"]["prompt_length"] == "12"


def test_records_without_the_prefix_are_known_by_their_scope(exporter: LogExporter, api: Program) -> None:
    prompt = of_claude_code("user_prompt", 1, prompt="Hello")
    prompt.ClearField("body")
    exporter.send_logs(prompt)
    assert [each["name"] for each in steps(api)] == ["claude_code.user_prompt"]


def spans(**more: Any) -> list[Span]:
    """The spans of the same run: an interaction around a request and a tool call."""
    turn = made(1, 1, 0, session__id="talk", **more)
    call = made(
        1, 2, 1, session__id="talk", model="claude-sonnet-4-5", input_tokens=100, output_tokens=20,
        cache_read_tokens=1000, **({"request_id": "req_1"} | more),
    )  # fmt: skip
    tool = made(1, 3, 1, session__id="talk", tool_name="Bash", **({"tool_use_id": "toolu_1"} | more))
    for span, name in ((turn, "interaction"), (call, "llm_request"), (tool, "tool")):
        span.name = f"claude_code.{name}"
    return [call, tool, turn]


@pytest.mark.parametrize("order", list(permutations(("spans", "logs"))))
@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("names_span", [False, True])
def test_a_run_that_is_sent_as_spans_and_as_logs_counts_once_in_any_order(
    exporter: LogExporter, project: Project, order: tuple[str, ...], is_file: bool, names_span: bool
) -> None:
    records = [inside(each, 1) for each in RUN] if names_span else RUN
    for each in order * 2:
        if is_file:
            as_file(project, as_json(request(*spans())) if each == "spans" else logs_as_json(logs(*records)))
        elif each == "spans":
            exporter.send(*spans())
        else:
            for one in records:
                exporter.send_logs(one)
    assert totals() == ONE_CALL
    assert Action.objects.filter(kind="tool_call").count() == 1
    assert Session.objects.get(key="talk").error_count == 2


@pytest.mark.parametrize("order", list(permutations(("spans", "logs"))))
def test_a_record_that_only_names_the_span_of_its_call_counts_once(
    exporter: LogExporter, order: tuple[str, ...]
) -> None:
    records = [inside(REQUEST, 2, without="request_id"), inside(TOOL, 3, without="tool_use_id")]
    for each in order:
        if each == "spans":
            exporter.send(*spans())
        else:
            exporter.send_logs(*records)
    calls, read, written, cost, unknown = totals()
    assert (calls, read, written, unknown) == (1, 1100, 20, 0)
    assert cost is not None
    assert Action.objects.filter(kind="tool_call").count() == 1


def test_a_tool_that_ran_twice_is_two_calls(exporter: LogExporter) -> None:
    exporter.send(*spans())
    exporter.send_logs(
        TOOL, of_claude_code("tool_result", 6, tool_name="Bash", tool_use_id="toolu_2", success="true")
    )
    assert Action.objects.filter(kind="tool_call").count() == 2


def test_the_time_of_a_record_is_taken_from_what_it_has(exporter: LogExporter, api: Program) -> None:
    stamped = of_claude_code("user_prompt", 1, **{"event.timestamp": "2025-10-09T08:53:21.500Z"})
    observed = of_claude_code("user_prompt", 2)
    odd = of_claude_code("user_prompt", 3, **{"event.timestamp": "yesterday"})
    for each in (stamped, observed, odd):
        each.time_unix_nano = 0
    exporter.send_logs(stamped, observed, odd)
    assert {each["started_at"] for each in steps(api)} == {
        "2025-10-09T08:53:21.500000Z",
        "2025-10-09T08:53:22Z",
        "2025-10-09T08:53:23Z",
    }


def test_a_session_of_logs_and_one_of_spans_is_the_same_one(exporter: LogExporter, project: Project) -> None:
    exporter.send_logs(PROMPT)
    exporter.send(*spans())
    assert Session.objects.filter(project=project).count() == 1
