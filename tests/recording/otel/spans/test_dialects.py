"""Spans with the attributes that instrumentations really write, recorded once with the versions in the comments."""

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.recording.otel.spans.made import event, span
from timemachine.recording.otel.pure.drafts import draft_of
from timemachine.recording.otel.pure.session_identity import session_named, user_named
from timemachine.recording.sessions.pure.draft import Usage

# ai 5.0.277
AI_SDK = {
    "operation.name": "ai.generateText.doGenerate fn",
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.telemetry.functionId": "fn",
    "ai.telemetry.metadata.sessionId": "s1",
    "ai.telemetry.metadata.userId": "u1",
    "ai.model.provider": "anthropic.messages",
    "ai.model.id": "claude-sonnet-4-5",
    "ai.settings.maxRetries": 2,
    "ai.prompt.messages": '[{"role":"user","content":[{"type":"text","text":"Weather?"}]}]',
    "ai.prompt.tools": ['{"type":"function","name":"weather"}'],
    "gen_ai.system": "anthropic.messages",
    "gen_ai.request.model": "claude-sonnet-4-5",
    "ai.response.finishReason": "tool-calls",
    "ai.response.toolCalls": '[{"toolCallId":"k1","toolName":"weather","input":"{}"}]',
    "ai.response.providerMetadata": json.dumps(
        {
            "anthropic": {
                "usage": {
                    "input_tokens": 10,
                    "cache_read_input_tokens": 900,
                    "cache_creation_input_tokens": 50,
                }
            }
        }
    ),
    "ai.usage.promptTokens": 10,
    "ai.usage.completionTokens": 20,
    "gen_ai.usage.input_tokens": 10,
    "gen_ai.usage.output_tokens": 20,
}


def test_a_call_of_the_ai_sdk() -> None:
    made = span(AI_SDK)
    found = draft_of(made)
    assert (found.kind, found.model, found.agent) == ("llm_call", "anthropic:claude-sonnet-4-5", "fn")
    assert found.input == [{"role": "user", "content": [{"type": "text", "text": "Weather?"}]}]
    calls = [{"toolCallId": "k1", "toolName": "weather", "input": "{}"}]
    assert found.output == [{"role": "assistant", "content": None, "tool_calls": calls}]
    assert found.usage == Usage(input_tokens=960, output_tokens=20, cached_tokens=900, cache_write_tokens=50)
    assert found.parameters == {
        "maxRetries": 2,
        "tools": [{"type": "function", "name": "weather"}],
        "finish_reasons": "tool-calls",
    }
    assert (session_named(made), user_named([made])) == ("s1", "u1")


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("openai.chat", "openai"),
        ("openai.responses", "openai"),
        ("google.generative-ai", "gemini"),
        ("google.vertex.chat", "vertex"),
        ("amazon-bedrock", "bedrock"),
        ("azure-openai.chat", "azure"),
        ("groq.chat", "groq"),
    ],
)
def test_the_ai_sdk_names_a_provider_with_its_interface(provider: str, expected: str) -> None:
    # version 6 writes no gen_ai.* beside it on every span
    found = draft_of(
        span({"ai.operationId": "ai.streamText.doStream", "ai.model.provider": provider, "ai.model.id": "m"})
    )
    assert (found.kind, found.model) == ("llm_call", f"{expected}:m")


def test_the_answer_tokens_and_cost_of_a_later_ai_sdk() -> None:
    found = draft_of(
        span(
            {
                "ai.operationId": "ai.streamText.doStream",
                "ai.response.text": "Sunny.",
                "ai.usage.inputTokens": 100,
                "ai.usage.outputTokens": 7,
                "ai.usage.inputTokenDetails.cacheReadTokens": 80,
                "ai.response.providerMetadata": '{"openrouter": {"usage": {"cost": 0.25}}, "anthropic": 1}',
            }
        )
    )
    assert (found.output, found.cost_usd) == ("Sunny.", Decimal("0.25"))
    assert found.usage == Usage(input_tokens=100, output_tokens=7, cached_tokens=80)


# ai 5.0.277 with @ai-sdk/amazon-bedrock 3.0.137
BEDROCK = {
    "ai.operationId": "ai.streamText.doStream",
    "ai.model.provider": "amazon-bedrock",
    "ai.model.id": "us.anthropic.claude-sonnet-4-20250514-v1:0",
    "ai.usage.inputTokens": 1000,
    "ai.usage.outputTokens": 20,
    "ai.usage.totalTokens": 1020,
    "ai.usage.cachedInputTokens": 500,
    "ai.response.providerMetadata": '{"bedrock": {"usage": {"cacheWriteInputTokens": 300}, "stopSequence": null}}',
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, (1800, 500, 300)),
        ({"ai.response.providerMetadata": None}, (1500, 500, None)),
        ({"ai.response.providerMetadata": '{"bedrock": {"usage": 1}}'}, (1500, 500, None)),
        # version 6 has added them
        ({"ai.usage.inputTokenDetails.noCacheTokens": 500}, (1000, 500, None)),
        ({"ai.model.provider": "openai.chat"}, (1000, 500, None)),
        ({"ai.operationId": "ai.generateText"}, (1000, 500, None)),
        ({"ai.usage.inputTokens": None}, (None, 500, None)),
    ],
)
def test_bedrock_counts_cached_tokens_beside_the_input(
    changed: dict[str, Any], expected: tuple[int | None, ...]
) -> None:
    usage = draft_of(span(BEDROCK | changed)).usage
    assert usage is not None
    assert (usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens) == expected
    assert usage.output_tokens == 20


def test_openllmetry_passes_on_the_input_of_bedrock_without_cached_tokens() -> None:
    # opentelemetry-instrumentation-bedrock 0.62.4, converse
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "aws.bedrock",
        "gen_ai.request.model": "claude-3-5-sonnet-20240620-v1:0",
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.total_tokens": 1020,
        "gen_ai.usage.cache_read.input_tokens": 500,
        "gen_ai.usage.cache_creation.input_tokens": 300,
    }
    for scope, read in (("opentelemetry.instrumentation.bedrock", 1800), ("other", 1000)):
        usage = draft_of(span(chat, scope={"name": scope})).usage
        assert usage is not None
        assert (usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens) == (read, 500, 300)


def test_the_ai_gateway_states_a_cost() -> None:
    stated = '{"openai": {}, "gateway": {"cost": "0.0045405", "marketCost": "0.01"}}'
    call = {"ai.operationId": "ai.generateText.doGenerate", "ai.response.providerMetadata": stated}
    assert draft_of(span(call)).cost_usd == Decimal("0.0045405")


@pytest.mark.parametrize("metadata", ["no JSON", '{"openrouter": {"usage": 1}}', '{"openrouter": 1}'])
def test_other_provider_metadata_has_no_cost(metadata: str) -> None:
    attributes = {"ai.operationId": "ai.streamText.doStream", "ai.response.providerMetadata": metadata}
    assert draft_of(span(attributes)).cost_usd is None


def test_a_tool_call_a_root_and_an_embedding_of_the_ai_sdk() -> None:
    tool = draft_of(
        span(
            {
                "operation.name": "ai.toolCall fn",
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "weather",
                "ai.toolCall.id": "k1",
                "ai.toolCall.args": '{"city":"Oslo"}',
                "ai.toolCall.result": '{"sun":true}',
            }
        )
    )
    assert (tool.kind, tool.tool, tool.call_id) == ("tool_call", "weather", "k1")
    assert (tool.input, tool.output) == ({"city": "Oslo"}, {"sun": True})
    root = draft_of(span({"operation.name": "ai.generateText", "ai.prompt": '{"prompt":"Weather?"}'}))
    assert (root.kind, root.layer, root.input) == ("event", "agent", {"prompt": "Weather?"})
    embedding = draft_of(
        span(
            {
                "ai.operationId": "ai.embed.doEmbed",
                "ai.model.provider": "openai.embedding",
                "ai.model.id": "text-embedding-3-small",
                "ai.values": ['"hi"'],
                "ai.usage.tokens": 14,
            }
        )
    )
    assert (embedding.kind, embedding.model) == ("llm_call", "openai:text-embedding-3-small")
    assert embedding.usage == Usage(input_tokens=14)
    assert embedding.parameters == {"operation": "embeddings"}


# strands-agents 1.61.1
STRANDS = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "strands-agents",
    "gen_ai.request.model": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "gen_ai.usage.prompt_tokens": 910,
    "gen_ai.usage.input_tokens": 910,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.usage.total_tokens": 930,
    "gen_ai.usage.cache_read_input_tokens": 900,
    "gen_ai.usage.cache_write_input_tokens": 0,
}


def test_a_call_of_strands_with_a_message_per_event() -> None:
    events = (
        event("gen_ai.user.message", content='[{"text": "Weather?"}]'),
        event("gen_ai.choice", finish_reason="end_turn", message='[{"text": "Sunny."}]'),
    )
    found = draft_of(span(STRANDS, events=events))
    assert found.model == "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    assert found.input == [{"role": "user", "content": [{"text": "Weather?"}]}]
    assert found.output == "Sunny."
    assert found.usage == Usage(
        input_tokens=910, output_tokens=20, total_tokens=930, cached_tokens=900, cache_write_tokens=0
    )


def test_a_call_of_strands_with_one_event_for_each_direction() -> None:
    name = "gen_ai.client.inference.operation.details"
    sunny = '[{"role": "assistant", "parts": [{"type": "text", "content": "Sunny."}]}]'
    events = (
        event(name, **{"gen_ai.input.messages": '[{"role": "user"}]'}),
        event(name, **{"gen_ai.output.messages": sunny}),
    )
    found = draft_of(span(STRANDS, events=events))
    assert (found.input, found.output) == ([{"role": "user"}], "Sunny.")


def test_a_cycle_of_strands_is_no_call() -> None:
    found = draft_of(span(STRANDS | {"gen_ai.operation.name": "execute_event_loop_cycle"}))
    assert (found.kind, found.layer) == ("event", "agent")


def test_a_tool_of_strands_has_arguments_and_result_although_it_also_has_events() -> None:
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.arguments": '{"city": "Oslo"}',
        "gen_ai.tool.call.result": '[{"text": "sun"}]',
    }
    events = (event("gen_ai.tool.message", content="{}"), event("gen_ai.choice", message="[]"))
    found = draft_of(span(tool, events=events))
    assert (found.input, found.output) == ({"city": "Oslo"}, [{"text": "sun"}])


def test_an_agent_and_a_tool_of_pydantic_ai() -> None:
    # pydantic-ai-slim 2.68.0, instrumentation version 2
    agent = draft_of(
        span(
            {
                "model_name": "gpt-4o",
                "agent_name": "desk",
                "gen_ai.operation.name": "invoke_agent",
                "final_result": "Sunny.",
                "gen_ai.aggregated_usage.input_tokens": 103,
                "gen_ai.aggregated_usage.output_tokens": 14,
            }
        )
    )
    assert (agent.kind, agent.agent, agent.model, agent.output) == ("event", "desk", "gpt-4o", "Sunny.")
    assert agent.usage == Usage(input_tokens=103, output_tokens=14)
    tool = draft_of(
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "weather",
                "tool_arguments": '{"city":"a"}',
                "tool_response": "sun",
            }
        )
    )
    assert (tool.input, tool.output) == ({"city": "a"}, "sun")


# Claude Code 2.1.266
CLAUDE_CODE = {
    "session.id": "s1",
    "span.type": "llm_request",
    "model": "claude-opus-5",
    "gen_ai.system": "anthropic",
    "gen_ai.request.model": "claude-opus-5",
    "input_tokens": 2,
    "output_tokens": 1200,
    "cache_read_tokens": 84562,
    "cache_creation_tokens": 7096,
    "stop_reason": "tool_use",
}


def test_the_spans_of_claude_code() -> None:
    call = draft_of(span(CLAUDE_CODE, name="claude_code.llm_request"))
    assert (call.kind, call.model) == ("llm_call", "anthropic:claude-opus-5")
    assert call.usage == Usage(
        input_tokens=91_660, output_tokens=1200, cached_tokens=84_562, cache_write_tokens=7096
    )
    tool = draft_of(span({"tool_name": "Bash", "tool_use_id": "toolu_1"}, name="claude_code.tool"))
    assert (tool.kind, tool.tool, tool.call_id) == ("tool_call", "Bash", "toolu_1")
    turn = draft_of(span({"user_prompt": "Read it"}, name="claude_code.interaction"))
    assert (turn.kind, turn.layer, turn.input) == ("event", "agent", "Read it")
    part = draft_of(span({"tool_name": "Bash"}, name="claude_code.tool.execution"))
    assert (part.kind, part.tool) == ("event", None)


def test_a_log_record_of_claude_code_has_numbers_as_texts_and_a_cost() -> None:
    logged = {"model": "claude-haiku-4-5", "input_tokens": "10", "output_tokens": "x", "cost_usd": "1e-3"}
    found = draft_of(span(logged, name="claude_code.api_request"))
    assert (found.model, found.cost_usd) == ("anthropic:claude-haiku-4-5", Decimal("0.001"))
    assert found.usage == Usage(input_tokens=10)


def test_cached_tokens_beyond_the_input_are_added_to_it() -> None:
    chat = {"gen_ai.operation.name": "chat", "gen_ai.usage.cache_read.input_tokens": 900}
    assert draft_of(span(chat | {"gen_ai.usage.input_tokens": 10})).usage == Usage(
        input_tokens=910, cached_tokens=900
    )
    assert draft_of(span(chat)).usage == Usage(cached_tokens=900)


def test_an_empty_object_of_the_adk_is_not_recorded() -> None:
    hidden = {
        "gen_ai.operation.name": "execute_tool",
        "gcp.vertex.agent.llm_request": "{}",
        "gcp.vertex.agent.llm_response": "{}",
    }
    shown = {
        "gcp.vertex.agent.tool_call_args": '{"city": "Oslo"}',
        "gcp.vertex.agent.tool_response": '{"sky": "sun"}',
    }
    found = draft_of(span(hidden))
    assert (found.input, found.output) == (None, None)
    found = draft_of(span(hidden | shown))
    assert (found.input, found.output) == ({"city": "Oslo"}, {"sky": "sun"})
