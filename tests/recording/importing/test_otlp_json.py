"""OTLP in files: how spans become sessions."""

import pytest

from tests.recording.importing.sample_files import lines
from tests.recording.importing.test_traces import outline, read
from tests.recording.importing.trace_samples import (
    OTLP_CHILD,
    OTLP_ROOT,
    otlp,
    otlp_span,
)
from timemachine.core.pure.errors import InvalidInput


def test_spans_of_a_file_belong_to_the_session_that_one_of_them_names() -> None:
    (session,) = read("otlp_json", lines(OTLP_CHILD, OTLP_ROOT)).sessions
    assert (session.key, session.name, session.agent, session.user) == ("talk", "span 1", "desk", "ann")
    assert session.metadata == {"service": "desk"}
    assert outline(session.actions) == [
        ("event", None, "span 1"),
        ("llm_call", "agent", "span 2"),
        ("event", None, "span 9"),
    ]
    root, call, loose = session.actions
    assert (root.parent, call.parent, loose.parent) == (None, root.id, f"{1:032x}-{7:016x}")
    assert call.output == "Hello"


def test_spans_that_name_no_session_become_a_session_per_trace() -> None:
    (session,) = read("otlp_json", otlp(otlp_span(2, 1))).sessions
    assert (session.key, session.name) == (f"{1:032x}", "desk")


def test_a_duplicate_span_is_imported_once_and_a_changed_one_separately() -> None:
    found = read("otlp_json", lines(OTLP_CHILD, OTLP_CHILD, otlp(otlp_span(9, 7, input__value="other"))))
    (session,) = found.sessions
    assert [each.name for each in session.actions] == [
        "span 2",
        "span 9",
        "span 9 (sent again with different content)",
    ]
    assert found.report.lines == 5
    assert found.report.notes == [
        "2 spans were repeated unchanged. They are stored with the first one.",
    ]


def test_a_span_that_cannot_be_recorded_is_skipped_with_a_reason() -> None:
    long = otlp_span(3) | {"attributes": [{"key": "agent.name", "value": {"stringValue": "x" * 1001}}]}
    found = read(
        "otlp_json", lines({"other": 1}, otlp(otlp_span(2), long, otlp_span(4) | {"spanId": "x"}), 7)
    )
    assert [each.reason[:24] for each in found.report.skipped] == [
        "It has no `resourceSpans"[:24],
        "`agent` has 1,001 charac",
        "Its span ID must be 8 by",
        "It is JSON but not an ob",
    ]
    with pytest.raises(InvalidInput, match="it has no span"):
        read("otlp_json", {"resourceSpans": []})
