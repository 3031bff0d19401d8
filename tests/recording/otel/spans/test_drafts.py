"""Agent, tool and retrieval spans of each convention as actions."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.recording.otel.spans.made import BEGAN, ID, PARENT, TRACE, span
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.otel.pure.attributes import Attributes, parsed_json
from timemachine.recording.otel.pure.drafts import draft_of
from timemachine.recording.otel.pure.span import SpanEvent
from timemachine.recording.otel.pure.sums import counted_once
from timemachine.recording.sessions.pure.draft import HitDraft
from timemachine.recording.sessions.pure.validation import check_action


@pytest.mark.parametrize(
    ("attributes", "kind", "layer"),
    [
        ({}, "event", None),
        ({"http.request.method": "GET"}, "event", None),
        ({"gen_ai.operation.name": "chat"}, "llm_call", "agent"),
        ({"gen_ai.operation.name": "embeddings"}, "llm_call", "agent"),
        ({"gen_ai.operation.name": "execute_tool"}, "tool_call", "tool"),
        ({"gen_ai.operation.name": "retrieval"}, "find", "tool"),
        ({"gen_ai.operation.name": "invoke_agent"}, "event", "agent"),
        ({"gen_ai.operation.name": "search_memory"}, "memory_op", "agent"),
        ({"gen_ai.request.model": "m"}, "llm_call", "agent"),
        ({"gen_ai.operation.name": "of its own", "llm.request.type": "chat"}, "llm_call", "agent"),
        ({"openinference.span.kind": "LLM"}, "llm_call", "agent"),
        ({"openinference.span.kind": "RETRIEVER"}, "find", "tool"),
        ({"openinference.span.kind": "CHAIN"}, "event", "agent"),
        ({"traceloop.span.kind": "tool"}, "tool_call", "tool"),
        ({"langfuse.observation.type": "generation"}, "llm_call", "agent"),
        ({"mlflow.spanType": '"CHAT_MODEL"'}, "llm_call", "agent"),
        ({"mlflow.spanType": "TOOL"}, "tool_call", "tool"),
    ],
)
def test_the_kind_of_a_span_follows_its_convention(
    attributes: dict[str, Any], kind: str, layer: str | None
) -> None:
    found = draft_of(span(attributes))
    assert (found.kind, found.layer) == (kind, layer)


def test_every_span_keeps_its_parent_its_times_and_its_source() -> None:
    sent = span(
        {"anything": [1, "two"]},
        events=(SpanEvent(name="seen", at=BEGAN, attributes={"a": 1}),),
        more={"kind": 3},
        resource={"service.name": "desk"},
        scope={"name": "lib"},
    )
    found = draft_of(sent)
    assert (found.id, found.parent) == (f"{TRACE}-{ID}", f"{TRACE}-{PARENT}")
    assert found.started_at is not None
    assert found.started_at.isoformat() == "2025-10-09T08:53:20+00:00"
    assert found.duration_ms == 1.5
    assert found.source == {
        "name": "work",
        "start_time_unix_nano": BEGAN,
        "end_time_unix_nano": BEGAN + 1_500_000,
        "attributes": {"anything": [1, "two"]},
        "events": [{"name": "seen", "at": BEGAN, "attributes": {"a": 1}}],
        "kind": 3,
        "resource": {"service.name": "desk"},
        "scope": {"name": "lib"},
    }


def test_values_missing_from_a_span_are_not_recorded() -> None:
    found = draft_of(span(began=0, ended=0, parent=None, name=""))
    recorded_values = (
        found.started_at,
        found.duration_ms,
        found.parent,
        found.name,
        found.input,
        found.output,
        found.model,
    )
    assert recorded_values == (None,) * 7
    assert (found.usage, found.cost_usd, found.error_type, found.parameters, found.tags) == (
        None,
        None,
        None,
        None,
        (),
    )


def test_totals_in_an_agent_span_are_not_counted_again() -> None:
    sums = {"gen_ai.request.model": "gpt-4o", "gen_ai.usage.input_tokens": 100, "gen_ai.usage.cost": 1.0}
    agent = draft_of(span({"gen_ai.operation.name": "invoke_agent", **sums}))
    call = draft_of(span({"gen_ai.operation.name": "chat", **sums}, id="d" * 16, parent=ID))
    found, counted = counted_once([agent, call])
    assert (found.usage, found.cost_usd, found.model) == (None, None, None)
    assert counted == call


def test_a_tool_with_its_arguments_and_its_result() -> None:
    found = draft_of(
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "look",
                "gen_ai.tool.call.id": "call-1",
                "gen_ai.tool.call.arguments": '{"where": "here"}',
                "gen_ai.tool.call.result": "nothing",
            }
        )
    )
    assert (found.tool, found.call_id, found.input, found.output) == (
        "look",
        "call-1",
        {"where": "here"},
        "nothing",
    )
    assert draft_of(span({"openinference.span.kind": "TOOL"}, name="look")).tool == "look"


def test_a_failed_span_has_its_error() -> None:
    raised = SpanEvent(
        name="exception",
        at=1,
        attributes={"exception.type": "ValueError", "exception.message": "no such place"},
    )
    found = draft_of(span(events=(raised,), status=2))
    assert (found.error_type, found.error_message) == ("ValueError", "no such place")
    found = draft_of(span({"error.type": "timeout"}, status=2, status_message="too slow"))
    assert (found.error_type, found.error_message) == ("timeout", "too slow")
    assert draft_of(span(status=2)).error_type == "error"
    survived = draft_of(span(events=(raised,)))
    assert (survived.error_type, survived.error_message) == (None, None)


@pytest.mark.parametrize(
    "attributes",
    [
        {
            "openinference.span.kind": "RETRIEVER",
            "retrieval.documents.0.document.id": "d1",
            "retrieval.documents.0.document.content": "First.",
            "retrieval.documents.0.document.score": 0.5,
            "retrieval.documents.0.document.metadata": '{"page": 3}',
            "retrieval.documents.1.document.content": "Second.",
            "retrieval.documents.1.document.score": True,
        },
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.documents": json.dumps(
                [{"id": "d1", "content": "First.", "score": 0.5, "metadata": {"page": 3}}, "Second."]
            ),
        },
    ],
)
def test_retrieved_documents_are_hits(attributes: dict[str, Any]) -> None:
    found = draft_of(span(attributes)).retrieval
    assert found is not None
    assert found.hits == (
        HitDraft(rank=1, score=0.5, frame="d1", metadata={"page": 3}, text="First."),
        HitDraft(rank=2, text="Second."),
    )


def test_a_find_without_documents_has_only_its_limit_if_any() -> None:
    attributes = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.request.top_k": 4.0,
        "gen_ai.retrieval.documents": "?",
    }
    found = draft_of(span(attributes)).retrieval
    assert found is not None
    assert (found.top_k, found.hits) == (4, ())
    assert draft_of(span({"openinference.span.kind": "RETRIEVER"})).retrieval is None
    odd = {"openinference.span.kind": "RERANKER", "reranker.output_documents.0.document": 7}
    reranked = draft_of(span(odd)).retrieval
    assert reranked is not None
    assert reranked.hits == (HitDraft(rank=1),)


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ("plain", "plain"),
        ("{broken", "{broken"),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": 1e999}', '{"a": 1e999}'),
        ("[" * 80 + "]" * 80, "[" * 80 + "]" * 80),
        ("[" * 100_000, "[" * 100_000),
        ("[{}" + ",{}" * 100 + "]", [{}] * 101),
        (7, 7),
        (None, None),
    ],
)
def test_json_in_a_text_is_parsed_if_valid(raw: Any, read: Any) -> None:
    assert parsed_json(raw) == read


def test_the_first_attribute_with_a_valid_value_is_used() -> None:
    attributes = Attributes(
        {"a": "", "b": True, "c": 1.5, "d": 3, "e": -1, "f.0": "x", "f.0.g": "y", "h.i": 1}
    )
    assert attributes.text("a", "b") is None
    assert attributes.text("a", "c") == "1.5"
    assert attributes.whole_number("c") is None
    assert attributes.whole_number("e") is None
    assert attributes.whole_number("b", "d") == 3
    assert attributes.listed("f") == ["x"]
    assert attributes.listed("h") == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        "gen_ai.operation.name",
        "gen_ai.request.model",
        "gen_ai.provider.name",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.cost",
        "gen_ai.retrieval.documents",
        "openinference.span.kind",
        "retrieval.documents.0.document",
        "retrieval.documents.0.document.score",
        "llm.input_messages.0.message",
        "llm.invocation_parameters",
        "langfuse.observation.usage_details",
        "metadata",
        "tag.tags",
    ]
)
KINDS = st.sampled_from(["chat", "retrieval", "execute_tool", "RETRIEVER", "LLM"])


@given(st.dictionaries(NAMES, VALUES | KINDS, max_size=8))
def test_a_span_with_any_attributes_becomes_an_action(attributes: dict[str, Any]) -> None:
    found = draft_of(span(attributes))
    with suppress(InvalidInput):  # an implausibly large number of tokens is refused by name
        check_action(found)
    json.dumps([found.input, found.output, found.parameters, found.source], allow_nan=False)
