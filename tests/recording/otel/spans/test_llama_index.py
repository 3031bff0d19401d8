"""Spans of LlamaIndex, as openinference-instrumentation-llama-index 4.6.1 writes them."""

import json
from typing import Any

import pytest

from tests.recording.otel.spans.made import span
from timemachine.recording.otel.pure.drafts import draft_of

SCOPE = {"name": "openinference.instrumentation.llama_index", "version": "4.6.1"}
OUTPUT = {
    "blocks": [{"text": "Sunny"}, {"text": "in Rome"}],
    "tool_name": "weather",
    "raw_input": {"args": [], "kwargs": {"city": "Rome"}},
    "raw_output": "Sunny\nin Rome",
    "is_error": False,
}


def test_what_prepares_a_call_is_an_event() -> None:
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o-mini",
        "llm.provider": "openai",
        "input.value": '{"tools": ["<FunctionTool object>"]}',
    }
    prepared = draft_of(span(attributes, name="OpenAI._prepare_chat_with_tools", scope=SCOPE))
    called = draft_of(span(attributes, name="OpenAI.astream_chat", scope=SCOPE))
    assert (prepared.kind, called.kind, called.model) == ("event", "llm_call", "openai:gpt-4o-mini")


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"kwargs": {"city": "Rome"}}, {"city": "Rome"}),
        ({"args": ["Rome"], "kwargs": {"days": 1}}, {"args": ["Rome"], "kwargs": {"days": 1}}),
        ({"kwargs": None}, {"kwargs": None}),
        ("Rome", "Rome"),
    ],
)
def test_a_tool_has_the_arguments_that_the_model_chose(given: Any, arguments: Any) -> None:
    assert tool(given, OUTPUT).input == arguments


@pytest.mark.parametrize(
    ("output", "result"),
    [
        (OUTPUT, "Sunny\nin Rome"),
        *(
            (other, other)
            for other in (
                OUTPUT | {"blocks": [{"text": "Sunny"}, {"image": "iVBO"}]},
                OUTPUT | {"blocks": [{"text": None}]},
                OUTPUT | {"blocks": ["Sunny"]},
                OUTPUT | {"blocks": []},
                OUTPUT | {"blocks": None},
                "Sunny",
            )
        ),
    ],
)
def test_the_result_of_a_tool_is_the_text_that_the_model_gets(output: Any, result: Any) -> None:
    assert tool({"kwargs": {"city": "Rome"}}, output).output == result


def tool(given: Any, output: Any) -> Any:
    attributes = {
        "openinference.span.kind": "TOOL",
        "tool.name": "weather",
        "input.value": json.dumps(given) if isinstance(given, dict) else given,
        "output.value": json.dumps(output) if isinstance(output, dict) else output,
    }
    return draft_of(span(attributes, name="FunctionTool.acall", scope=SCOPE))
