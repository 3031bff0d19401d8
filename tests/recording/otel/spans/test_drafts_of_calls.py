"""Model call spans of each convention as actions."""

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.recording.otel.spans.made import span
from timemachine.recording.otel.pure.drafts import draft_of
from timemachine.recording.otel.pure.span import SpanEvent
from timemachine.recording.sessions.pure.draft import Usage


def test_a_call_in_the_opentelemetry_convention() -> None:
    messages = [{"role": "user", "parts": [{"type": "text", "content": "Why?"}]}]
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
                "gen_ai.input.messages": json.dumps(messages),
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
    # reasoning that exceeds the output cannot be part of it
    assert found.usage == Usage(input_tokens=12, output_tokens=3, cached_tokens=4, reasoning_tokens=3)
    assert (found.input, found.output, found.agent) == (messages, "So.", "desk")


def test_a_call_with_messages_as_span_events() -> None:
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
    assert found.output == "So."


def test_a_call_with_messages_in_one_event() -> None:
    details = {
        "gen_ai.input.messages": '[{"role": "user"}]',
        "gen_ai.output.messages": '[{"role": "assistant"}]',
    }
    events = (SpanEvent(name="gen_ai.client.inference.operation.details", at=1, attributes=details),)
    found = draft_of(span({"gen_ai.operation.name": "chat"}, events=events))
    assert (found.input, found.output) == ([{"role": "user"}], [{"role": "assistant"}])


def test_a_call_in_the_openinference_convention() -> None:
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


def test_calls_in_the_openllmetry_and_langfuse_conventions() -> None:
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
def test_an_invalid_cost_is_not_recorded(cost: Any) -> None:
    assert draft_of(span({"gen_ai.operation.name": "chat", "gen_ai.usage.cost": cost})).cost_usd is None


def test_an_agent_has_the_tools_and_the_instructions_that_it_states_for_its_calls() -> None:
    found = draft_of(
        span(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.tool.definitions": '[{"name": "look"}]',
                "gen_ai.system_instructions": '[{"type": "text", "content": "Be brief."}]',
                "gen_ai.request.temperature": 0.5,
            }
        )
    )
    assert (found.kind, found.parameters) == (
        "event",
        {"tools": [{"name": "look"}], "system_instructions": [{"type": "text", "content": "Be brief."}]},
    )


@pytest.mark.parametrize(
    "stated",
    [
        {"llm.token_count.prompt_details.audio": 40, "llm.token_count.completion_details.audio": 5},
        {"gen_ai.usage.details.input_audio_tokens": 40, "gen_ai.usage.details.output_audio_tokens": 5},
        {"langfuse.observation.usage_details": '{"input": 60, "input_audio_tokens": 40, "output": 9, "output_audio": 5}'},
        {"output.value": '{"usage": {"prompt_tokens_details": {"audio_tokens": 40}, "completion_tokens_details": {"audio_tokens": 5}}}'},
        {"gcp.vertex.agent.llm_response": '{"usage_metadata": {"prompt_tokens_details": [{"modality": "AUDIO", "token_count": 40}], "candidates_tokens_details": [{"modality": "AUDIO", "token_count": 5}]}}'},
    ],
)  # fmt: skip
def test_tokens_of_sound_are_parameters_of_the_call(stated: dict[str, Any]) -> None:
    found = draft_of(span({"gen_ai.operation.name": "chat", **stated})).parameters
    assert found == {"audio_input_tokens": 40, "audio_output_tokens": 5}
