"""What each convention's spans become."""

import json
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.otel.pure.attributes import Attributes, parsed_json
from timemachine.recording.otel.pure.drafts import draft_of
from timemachine.recording.otel.pure.span import Span, SpanEvent
from timemachine.recording.sessions.pure.draft import HitDraft, Usage
from timemachine.recording.sessions.pure.validation import check_action

TRACE, ID, PARENT = "a" * 32, "b" * 16, "c" * 16
BEGAN = 1_760_000_000_000_000_000


def span(attributes: dict[str, Any] | None = None, **more: Any) -> Span:
    facts: dict[str, Any] = {
        "trace": TRACE,
        "id": ID,
        "parent": PARENT,
        "name": "work",
        "began": BEGAN,
        "ended": BEGAN + 1_500_000,
    }
    return Span(**facts | {"attributes": attributes or {}} | more)


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
def test_a_span_is_what_its_convention_calls_it(
    attributes: dict[str, Any], kind: str, layer: str | None
) -> None:
    found = draft_of(span(attributes))
    assert (found.kind, found.layer) == (kind, layer)


def test_every_span_keeps_its_place_its_times_and_all_that_was_sent() -> None:
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


def test_what_a_span_does_not_say_is_not_recorded() -> None:
    found = draft_of(span(began=0, ended=0, parent=None, name=""))
    told = (
        found.started_at,
        found.duration_ms,
        found.parent,
        found.name,
        found.input,
        found.output,
        found.model,
    )
    assert told == (None,) * 7
    assert (found.usage, found.cost_usd, found.error_type, found.parameters, found.tags) == (
        None,
        None,
        None,
        None,
        (),
    )


def test_a_call_by_the_conventions_of_opentelemetry() -> None:
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Why?"}]}]
    found = draft_of(
        span(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "gcp.gemini",
                "gen_ai.request.model": "gemini-flash-latest",
                "gen_ai.response.model": "gemini-2.5-flash",
                "gen_ai.request.temperature": 0.0,
                "gen_ai.request.stop_sequences": ["END"],
                "gen_ai.response.finish_reasons": ["stop"],
                "gen_ai.agent.name": "desk",
                "gen_ai.usage.input_tokens": 12,
                "gen_ai.usage.output_tokens": 0,
                "gen_ai.usage.cache_read.input_tokens": 4,
                "gen_ai.usage.reasoning.output_tokens": 3,
                "gen_ai.input.messages": json.dumps(asked),
                "gen_ai.output.messages": [
                    {
                        "role": "assistant",
                        "parts": [{"type": "text", "content": "So."}],
                        "finish_reason": "stop",
                    }
                ],
                "gen_ai.tool.definitions": '[{"name": "look"}]',
            }
        )
    )
    assert found.model == "gemini:gemini-2.5-flash"
    assert found.parameters == {
        "temperature": 0.0,
        "stop_sequences": ["END"],
        "finish_reasons": ["stop"],
        "tools": [{"name": "look"}],
    }
    assert found.usage == Usage(input_tokens=12, output_tokens=0, cached_tokens=4, reasoning_tokens=3)
    assert (found.input, found.output, found.agent) == (asked, "So.", "desk")


def test_a_call_whose_messages_are_events_of_its_span() -> None:
    events = (
        SpanEvent(name="gen_ai.system.message", at=1, attributes={"content": "Be brief."}),
        SpanEvent(
            name="gen_ai.user.message", at=2, attributes={"content": "Why?", "gen_ai.system": "openai"}
        ),
        SpanEvent(name="gen_ai.choice", at=3, attributes={"index": 0, "message": '{"content": "So."}'}),
        SpanEvent(name="something else", at=4, attributes={}),
    )
    found = draft_of(span({"gen_ai.operation.name": "chat"}, events=events))
    assert found.input == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    assert found.output == [{"role": "assistant", "index": 0, "message": '{"content": "So."}'}]


def test_a_call_whose_messages_are_details_of_one_event() -> None:
    details = {
        "gen_ai.input.messages": '[{"role": "user"}]',
        "gen_ai.output.messages": '[{"role": "assistant"}]',
    }
    events = (SpanEvent(name="gen_ai.client.inference.operation.details", at=1, attributes=details),)
    found = draft_of(span({"gen_ai.operation.name": "chat"}, events=events))
    assert (found.input, found.output) == ([{"role": "user"}], [{"role": "assistant"}])


def test_a_call_by_openinference() -> None:
    found = draft_of(
        span(
            {
                "openinference.span.kind": "LLM",
                "llm.provider": "openai",
                "llm.model_name": "gpt-4o-mini",
                "llm.invocation_parameters": '{"temperature": 0.5}',
                "llm.input_messages.0.message.role": "system",
                "llm.input_messages.0.message.content": "Be brief.",
                "llm.input_messages.10.message.role": "user",
                "llm.input_messages.10.message.contents.0.message_content.text": "Why?",
                "llm.input_messages.2.message.role": "assistant",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
                "llm.token_count.prompt": 7,
                "llm.token_count.completion": 2,
                "llm.token_count.total": 9,
                "llm.token_count.prompt_details.cache_read": 1,
                "llm.cost.total": 0.00125,
                "tag.tags": ["a", "b", 3],
                "input.value": "kept in the source only",
            }
        )
    )
    assert found.model == "openai:gpt-4o-mini"
    assert found.parameters == {"temperature": 0.5}
    assert [each["role"] for each in found.input] == ["system", "assistant", "user"]
    assert found.input[2]["contents"] == [{"message_content": {"text": "Why?"}}]
    assert found.output == [
        {"role": "assistant", "tool_calls": [{"tool_call": {"function": {"name": "look"}}}]}
    ]
    assert found.usage == Usage(input_tokens=7, output_tokens=2, total_tokens=9, cached_tokens=1)
    assert found.cost_usd == Decimal("0.00125")
    assert found.tags == ("a", "b")


def test_a_call_by_openllmetry_and_one_by_langfuse() -> None:
    found = draft_of(
        span(
            {
                "gen_ai.system": "OpenAI",
                "gen_ai.request.model": "openai:gpt-4o",
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": "Why?",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.content": "So.",
                "gen_ai.usage.prompt_tokens": 3,
                "llm.usage.total_tokens": 5,
            }
        )
    )
    assert (found.model, found.input, found.output) == (
        "openai:gpt-4o",
        [{"role": "user", "content": "Why?"}],
        "So.",
    )
    assert found.usage == Usage(input_tokens=3, total_tokens=5)
    found = draft_of(
        span(
            {
                "langfuse.observation.type": "generation",
                "langfuse.observation.model.name": "gpt-4o",
                "langfuse.observation.input": '{"q": "Why?"}',
                "langfuse.observation.output": "So.",
                "langfuse.observation.usage_details": '{"input": 3, "output": 2}',
                "langfuse.observation.cost_details": '{"total": 0.5}',
            }
        )
    )
    assert (found.model, found.input, found.output) == ("gpt-4o", {"q": "Why?"}, "So.")
    assert (found.usage, found.cost_usd) == (Usage(input_tokens=3, output_tokens=2), Decimal("0.5"))


@pytest.mark.parametrize("cost", [-1, 1e300, "much", True])
def test_a_cost_that_is_none_is_not_recorded(cost: Any) -> None:
    assert draft_of(span({"gen_ai.operation.name": "chat", "gen_ai.usage.cost": cost})).cost_usd is None


def test_the_sums_that_an_agent_says_of_its_calls_are_not_counted_again() -> None:
    sums = {"gen_ai.request.model": "gpt-4o", "gen_ai.usage.input_tokens": 100, "gen_ai.usage.cost": 1.0}
    found = draft_of(span({"gen_ai.operation.name": "invoke_agent", **sums}))
    assert (found.usage, found.cost_usd, found.model) == (None, None, None)
    assert found.source["attributes"]["gen_ai.usage.input_tokens"] == 100


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


def test_what_failed_says_how() -> None:
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
def test_documents_that_were_found_are_hits(attributes: dict[str, Any]) -> None:
    found = draft_of(span(attributes)).retrieval
    assert found is not None
    assert found.hits == (
        HitDraft(rank=1, score=0.5, frame="d1", metadata={"page": 3}, text="First."),
        HitDraft(rank=2, text="Second."),
    )


def test_a_find_without_documents_has_how_many_it_asked_for_or_nothing() -> None:
    asked = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.request.top_k": 4.0,
        "gen_ai.retrieval.documents": "?",
    }
    found = draft_of(span(asked)).retrieval
    assert found is not None
    assert (found.top_k, found.hits) == (4, ())
    assert draft_of(span({"openinference.span.kind": "RETRIEVER"})).retrieval is None
    odd = {"openinference.span.kind": "RERANKER", "reranker.output_documents.0.document": 7}
    reranked = draft_of(span(odd)).retrieval
    assert reranked is not None
    assert reranked.hits == (HitDraft(rank=1),)


@pytest.mark.parametrize(
    ("said", "read"),
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
def test_json_in_a_text_is_read_where_it_is_json(said: Any, read: Any) -> None:
    assert parsed_json(said) == read


def test_the_first_name_with_the_right_kind_of_value_counts() -> None:
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
def test_no_attributes_keep_a_span_from_becoming_an_action(attributes: dict[str, Any]) -> None:
    found = draft_of(span(attributes))
    with suppress(InvalidInput):  # a number of tokens beyond all measure is refused by name
        check_action(found)
    json.dumps([found.input, found.output, found.parameters, found.source], allow_nan=False)
