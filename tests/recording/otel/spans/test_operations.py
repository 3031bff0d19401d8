"""Which operation a span states, and its messages, in earlier conventions and in those of LangSmith and Pydantic AI."""

import json
from typing import Any

import pytest

from tests.recording.otel.spans.made import event, span
from timemachine.recording.otel.pure.drafts import draft_of
from timemachine.recording.sessions.pure.draft import Usage


def test_the_messages_that_an_attribute_lists_as_events() -> None:
    # pydantic-ai 1 with instrumentation version 1
    events = [
        {
            "event.name": "gen_ai.user.message",
            "gen_ai.message.index": 0,
            "role": "user",
            "content": "Weather?",
        },
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "Sunny."}},
        "no event",
    ]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "events": json.dumps(events)}
    found = draft_of(span(chat))
    assert (found.input, found.output) == ([{"role": "user", "content": "Weather?"}], "Sunny.")
    assert draft_of(span(chat | {"events": "none"})).input is None


def test_a_tool_of_an_earlier_pydantic_ai_has_no_operation() -> None:
    running = {"gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "c1", "tool_arguments": '{"city":"a"}'}
    found = draft_of(span(running | {"tool_response": "sun"}, name="running tool: weather"))
    assert (found.kind, found.tool, found.call_id) == ("tool_call", "weather", "c1")
    assert (found.input, found.output) == ({"city": "a"}, "sun")
    # without contents
    running = {"gen_ai.tool.name": "weather", "logfire.msg": "running tool: weather"}
    assert draft_of(span(running)).kind == "tool_call"
    assert draft_of(span({"gen_ai.tool.name": "weather"}, name="result")).kind == "event"


def test_the_events_of_the_conventions_before_1_28_have_all_messages() -> None:
    events = (
        event("gen_ai.content.prompt", **{"gen_ai.prompt": '[{"role": "user", "content": "Weather?"}]'}),
        event(
            "gen_ai.content.completion",
            **{"gen_ai.completion": '[{"role": "assistant", "content": "Sunny."}]'},
        ),
    )
    found = draft_of(span({"gen_ai.operation.name": "chat"}, events=events))
    assert (found.input, found.output) == ([{"role": "user", "content": "Weather?"}], "Sunny.")


@pytest.mark.parametrize(
    ("kind", "operation", "expected"),
    [
        ("llm", "chat", "llm_call"),
        ("prompt", "chat", "event"),
        ("chain", "chain", "event"),
        ("parser", "parser", "event"),
        ("tool", "execute_tool", "tool_call"),
        ("retriever", "embeddings", "find"),
        ("embedding", "embeddings", "llm_call"),
    ],
)
def test_the_kinds_of_langsmith_precede_its_operations(kind: str, operation: str, expected: str) -> None:
    run = {"langsmith.span.kind": kind, "gen_ai.operation.name": operation}
    found = draft_of(span(run | {"gen_ai.system": "langchain", "gen_ai.request.model": "gpt-4o"}))
    assert found.kind == expected
    if expected == "llm_call":
        assert found.model == "gpt-4o"


def test_a_reranker_has_its_query() -> None:
    found = draft_of(span({"openinference.span.kind": "RERANKER", "reranker.query": "weather"}))
    assert (found.kind, found.input) == ("find", "weather")


@pytest.mark.parametrize(
    ("provider", "address", "expected"),
    [
        ("openai", "openrouter.ai", "openrouter:m"),
        ("openai", "desk.openai.azure.com", "azure:m"),
        ("openai", "https://api.groq.com/openai/v1", "groq:m"),
        ("openai", "API.DEEPSEEK.COM:443", "deepseek:m"),
        ("anthropic", "bedrock-runtime.us-east-1.amazonaws.com", "bedrock:m"),
        ("anthropic", "us-east5-aiplatform.googleapis.com", "vertex:m"),
        ("openai", "api.openai.com", "openai:m"),
        ("openai", "max.ai", "openai:m"),
        ("openai", "my-x.ai", "openai:m"),
        ("openai", "http://[", "openai:m"),
        ("groq", "openrouter.ai", "groq:m"),
    ],
)
def test_a_client_of_openai_or_anthropic_can_call_another_provider(
    provider: str, address: str, expected: str
) -> None:
    chat = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": "m"}
    assert draft_of(span(chat | {"server.address": address})).model == expected


@pytest.mark.parametrize(
    "stated",
    [
        {"openinference.span.kind": "EMBEDDING", "llm.token_count.total": 1400},
        {"langfuse.observation.type": "embedding", "langfuse.observation.usage_details": '{"total": 1400}'},
        {"gen_ai.operation.name": "embeddings", "gen_ai.usage.total_tokens": 1400},
    ],
)
def test_the_total_of_embeddings_was_read(stated: dict[str, Any]) -> None:
    assert draft_of(span(stated)).usage == Usage(input_tokens=1400, total_tokens=1400)


def test_embeddings_of_openllmetry_are_known_as_such() -> None:
    found = draft_of(span({"llm.request.type": "embedding", "gen_ai.request.model": "gpt-4o"}))
    assert found.parameters == {"operation": "embeddings"}


def test_a_framework_is_no_provider() -> None:
    adk = {"gen_ai.system": "gcp.vertex.agent", "gen_ai.request.model": "gemini-2.5-flash"}
    assert draft_of(span(adk | {"gen_ai.usage.input_tokens": 1})).model == "gemini-2.5-flash"
