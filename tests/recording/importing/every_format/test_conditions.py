"""What changes the price of a call is kept with the call, whatever tool recorded it."""

import json
from typing import Any

import pytest

from tests.recording.importing.sample_files import document, lines
from tests.recording.importing.trace_samples import otlp, otlp_span
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.price_conditions import Conditions
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.sessions.pure.draft import ActionDraft

ANTHROPIC = {
    "input_tokens": 5,
    "output_tokens": 7,
    "cache_read_input_tokens": 10,
    "cache_creation_input_tokens": 400,
    "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 300},
    "service_tier": "batch",
    "speed": "fast",
    "inference_geo": "us",
    "server_tool_use": {"web_search_requests": 2, "code_execution_requests": 1},
}
"""Usage of Anthropic's Messages API."""
STATED = {
    "service_tier": "batch",
    "speed": "fast",
    "inference_geo": "us",
    "cache_write_1h_tokens": 300,
    "web_search_requests": 2,
    "billed_extras": ["code_execution_requests"],
}
RESPONSE = {
    "object": "response",
    "service_tier": "priority",
    "tools": [{"type": "web_search"}, {"type": "file_search"}],
    "output": [
        {"type": "web_search_call"},
        {"type": "web_search_call"},
        {"type": "file_search_call"},
        {"type": "message"},
        7,
    ],
}
"""A response of OpenAI, whose tools cost more than tokens."""
PRIORITY = {"service_tier": "priority", "web_search_requests": 2, "billed_extras": ["file_search_call"]}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def call_of(name: str, data: bytes) -> ActionDraft:
    sessions = FORMATS[name].read(data).sessions
    return next(each for session in sessions for each in session.actions if each.kind == "llm_call")


def otel(**attributes: Any) -> tuple[str, bytes]:
    span = otlp_span(1, 0)
    span["attributes"] += [{"key": key, "value": _value(value)} for key, value in (CHAT | attributes).items()]
    return "otlp_json", document(otlp(span))


def _value(value: Any) -> JsonObject:
    return (
        {"intValue": value}
        if isinstance(value, int)
        else {"stringValue": value if isinstance(value, str) else json.dumps(value)}
    )


def langsmith(**run: Any) -> tuple[str, bytes]:
    return "langsmith", document([{"id": "a", "trace_id": "x", "run_type": "llm", **run}])


def langfuse(**observation: Any) -> tuple[str, bytes]:
    made = {"id": "o", "type": "GENERATION", **observation}
    return "langfuse", document({"id": "t", "projectId": "p", "observations": [made]})


def openai_agents(**data: Any) -> tuple[str, bytes]:
    span = {"object": "trace.span", "id": "s", "trace_id": "t", "span_data": {"type": "response", **data}}
    return "openai_agents", document([span])


def inspect(**event: Any) -> tuple[str, bytes]:
    sample = {"id": 1, "epoch": 1, "messages": [], "events": [{"event": "model", "model": "m", **event}]}
    return "inspect", document({"version": 2, "status": "success", "eval": {}, "samples": [sample]})


def codex(*settings: JsonObject) -> tuple[str, bytes]:
    return "codex", lines(
        {"timestamp": "2026-11-01T10:00:00Z", "type": "session_meta", "payload": {"id": "c"}},
        *settings,
        {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": []}},
    )


SOURCES: dict[str, tuple[tuple[str, bytes], JsonObject]] = {
    "OpenTelemetry": (otel(**{"openai.response.service_tier": "priority"}), {"service_tier": "priority"}),
    "OpenTelemetry, earlier": (otel(**{"gen_ai.openai.request.service_tier": "flex"}), {"service_tier": "flex"}),
    "OpenTelemetry, granted another tier": (
        otel(**{"openai.request.service_tier": "flex", "openai.response.service_tier": "default"}), {}),
    "Anthropic's spans": (
        otel(**{"anthropic.response.service_tier": "batch", "anthropic.usage.inference_geo": "us",
                "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 300}),
        {"service_tier": "batch", "inference_geo": "us", "cache_write_1h_tokens": 300}),
    "Anthropic's spans with a compaction": (
        otel(**{"anthropic.usage.compaction.input_tokens": 9}), {"billed_extras": ["compaction iteration"]}),
    "searches in a span": (
        otel(**{"gen_ai.usage.server_tool_use.web_search_requests": 2}), {"web_search_requests": 2}),
    "Vercel's AI SDK with Anthropic": (
        otel(**{"ai.response.providerMetadata": {"anthropic": {"usage": ANTHROPIC}}}), STATED),
    "Vercel's AI SDK with OpenAI": (
        otel(**{"ai.response.providerMetadata": {"openai": {"serviceTier": "priority"}}}), {"service_tier": "priority"}),
    "Vercel's AI SDK with Vertex": (
        otel(**{"ai.response.providerMetadata": {"google": {"usageMetadata": {"trafficType": "ON_DEMAND_FLEX"}}}}),
        {"service_tier": "flex"}),
    "OpenInference": (otel(**{"output.value": RESPONSE}), PRIORITY),
    "OpenInference, requested": (otel(**{"llm.invocation_parameters": {"service_tier": "flex"}}), {"service_tier": "flex"}),
    "OpenInference, granted another tier": (
        otel(**{"llm.invocation_parameters": {"service_tier": "flex"}, "output.value": {"service_tier": "default"}}),
        {"service_tier": "default"}),
    "Logfire": (otel(response_data={"usage": ANTHROPIC}), STATED),
    "MLflow": (otel(**{"mlflow.spanOutputs": {"usage": ANTHROPIC}}), STATED),
    "Google's ADK": (
        otel(**{"gcp.vertex.agent.llm_response": {"usage_metadata": {"traffic_type": "PROVISIONED_THROUGHPUT"}}}),
        {"service_tier": "provisioned_throughput"}),
    "Langfuse in a span": (
        otel(**{"langfuse.observation.usage_details": {"input": 5, "input_cache_creation_1h": 300}}),
        {"cache_write_1h_tokens": 300}),
    "Langfuse": (langfuse(usageDetails={"input": 5, "input_cache_creation_1h": 300}), {"cache_write_1h_tokens": 300}),
    "Langfuse, requested": (langfuse(modelParameters={"service_tier": "flex"}), {"service_tier": "flex"}),
    "Langfuse, from a span of the AI SDK": (
        langfuse(metadata=json.dumps({"attributes": {"ai.response.providerMetadata": '{"openai": {"serviceTier": "flex"}}'}})),
        {"service_tier": "flex"}),
    "Langfuse, with the answer": (langfuse(output=RESPONSE), PRIORITY),
    "LangSmith around the client of OpenAI": (langsmith(outputs={"service_tier": "flex", "usage_metadata": {"input_tokens": 3}}),
        {"service_tier": "flex"}),
    "LangSmith, requested": (langsmith(inputs={"service_tier": "flex"}), {"service_tier": "flex"}),
    "LangSmith, granted another tier": (
        langsmith(inputs={"service_tier": "flex"}, outputs={"service_tier": "default"}), {"service_tier": "default"}),
    "LangChain with OpenAI": (
        langsmith(outputs={"usage_metadata": {"input_tokens": 30, "input_token_details": {"priority_cache_read": 20, "priority": 10}}}),
        {"service_tier": "priority"}),
    "LangChain with Anthropic": (
        langsmith(outputs={"generations": [[{"message": {"kwargs": {
            "usage_metadata": {"input_tokens": 415, "input_token_details": {"cache_creation": 0, "ephemeral_1h_input_tokens": 300}},
            "response_metadata": {"usage": ANTHROPIC}}}}]]}),
        STATED),
    "the Agents SDK of OpenAI": (openai_agents(response=RESPONSE), PRIORITY),
    "the Agents SDK of OpenAI, requested": (
        openai_agents(type="generation", model_config={"service_tier": "flex"}), {"service_tier": "flex"}),
    "Inspect": (inspect(call={"request": {}, "response": {"usage": ANTHROPIC}}), STATED),
    "Inspect, requested": (inspect(call={"request": {"service_tier": "flex"}}), {"service_tier": "flex"}),
    "Inspect in batches": (
        inspect(config={"batch": True}, call={"response": {"service_tier": "default"}}), {"batch": True, "service_tier": "batch"}),
    "mini-swe-agent": (
        ("mini_swe_agent", document({"info": {"mini_version": "2"}, "messages": [
            {"role": "assistant", "content": "x", "extra": {"response": {"service_tier": "flex", "usage": {"prompt_tokens": 3}}}}]})),
        {"service_tier": "flex"}),
    "OpenHands": (
        ("openhands", document([
            {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}, "tool_call_metadata": {
                "model_response": {"id": "r", "model": "m", "usage": {"prompt_tokens": 3}, "service_tier": "flex"}}}])),
        {"service_tier": "flex"}),
    "tau2-bench": (
        ("tau2_bench", document({"task_id": "1", "termination_reason": "user_stop", "messages": [
            {"role": "assistant", "content": "x", "raw_data": {"model": "m", "usage": ANTHROPIC}}]})),
        STATED),
    "ATIF": (
        ("atif", document({"schema_version": "ATIF-v1.7", "steps": [
            {"step_id": 1, "source": "agent", "message": "x", "metrics": {"prompt_tokens": 3, "extra": ANTHROPIC}}]})),
        STATED),
    "Codex": (
        codex({"type": "turn_context", "payload": {"model": "gpt-5", "service_tier": "fast"}}), {"service_tier": "priority"}),
    "Codex, set for the thread": (
        codex({"type": "event_msg", "payload": {"type": "thread_settings_applied", "thread_settings": {"service_tier": "flex"}}},
              {"type": "turn_context", "payload": {"model": "gpt-5"}}),
        {"service_tier": "flex"}),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_what_changes_the_price_is_kept(name: str) -> None:
    (format_name, data), expected = SOURCES[name]
    parameters = call_of(format_name, data).parameters or {}
    assert {key: value for key, value in parameters.items() if key in expected} == expected
    assert Conditions.of(parameters) == Conditions.of(expected)


def test_tokens_of_langchain_with_a_tier_are_counted() -> None:
    details = {"priority_cache_read": 20, "priority_cache_creation": 4, "priority": 6}
    _, data = langsmith(
        outputs={
            "usage_metadata": {
                "input_tokens": 30,
                "input_token_details": details,
                "output_token_details": {"priority_reasoning": 2},
            }
        }
    )
    usage = call_of("langsmith", data).usage
    assert usage is not None
    assert (usage.cached_tokens, usage.cache_write_tokens, usage.reasoning_tokens) == (20, 4, 2)


def test_an_agent_of_opentelemetry_keeps_the_conditions_of_its_calls() -> None:
    span = otlp_span(1, 0)
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.usage.input_tokens": 5,
        "openai.response.service_tier": "flex",
    }
    span["attributes"] += [{"key": key, "value": _value(value)} for key, value in attributes.items()]
    (session,) = FORMATS["otlp_json"].read(document(otlp(span))).sessions
    assert session.actions[0].parameters == {"service_tier": "flex"}
