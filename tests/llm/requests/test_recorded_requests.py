"""The request of a recorded model call is read from its input and its parameters."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.llm.requests.bodies import anthropic_bodies, chat_bodies, response_bodies, values
from timemachine.llm.pure.requests import openai_chat
from timemachine.llm.pure.requests.canonical import request_sha256
from timemachine.llm.pure.requests.neutral import (
    Message,
    Parameters,
    Request,
    ResponseFormat,
    Text,
    Tool,
    ToolChoice,
)
from timemachine.llm.pure.requests.recorded_requests import read_request

ASKED = Message(role="user", parts=(Text("Weather?"),))
MESSAGES = [{"role": "user", "content": "Weather?"}]
SCHEMA = {"type": "object", "properties": {}}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}


def test_a_recorded_body_is_the_request_that_it_was() -> None:
    body = {
        "messages": [{"role": "system", "content": "Be brief."}, *MESSAGES],
        "tools": [FUNCTION],
        "tool_choice": "auto",
        "response_format": {"type": "json_object"},
        "temperature": 0,
        "max_tokens": 5,
        "stop": "a",
    }
    assert request_sha256(read_request(body, model="m") or Request()) == request_sha256(
        openai_chat.read({**body, "model": "m"})
    )


@pytest.mark.parametrize(
    "instructions", ["Be brief.", [{"type": "text", "content": "Be brief."}], [{"text": "Be brief."}]]
)
def test_messages_and_parameters_that_were_recorded_apart_are_one_request(instructions: Any) -> None:
    parameters = {
        "system_instructions": instructions,
        "tools": [FUNCTION],
        "temperature": 0.5,
        "operation": "chat",
    }
    assert read_request(MESSAGES, parameters) == Request(
        system=(Text("Be brief."),),
        messages=(ASKED,),
        tools=(Tool(name="f", schema=SCHEMA),),
        parameters=Parameters(temperature=0.5),
    )


@pytest.mark.parametrize(
    ("recorded", "parameters"),
    [
        ({"maxTokens": 5, "topP": 0.5}, Parameters(max_tokens=5, top_p=0.5)),
        ({"stop_sequences": ["a"], "top_k": 4}, Parameters(stop=("a",))),
        ({"reasoning": {"effort": "low"}}, Parameters(effort="low")),
        ({"output_config": {"effort": "high"}}, Parameters(effort="high")),
        ({"generationConfig": {"maxOutputTokens": 5}}, Parameters(max_tokens=5)),
        ({"temperature": float("nan")}, Parameters()),
        ("temperature=0", Parameters()),
        ({"tools": ["?"], "system_instructions": 5}, Parameters()),
    ],
)
def test_parameters_are_known_under_the_names_of_every_recorder(
    recorded: Any, parameters: Parameters
) -> None:
    assert read_request(MESSAGES, recorded) == Request(messages=(ASKED,), parameters=parameters)


def test_the_choice_of_tools_and_the_form_of_the_answer_are_read() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    request = read_request("Weather?", {"tool_choice": {"type": "any"}, "response_format": form})
    assert request == Request(
        messages=(ASKED,),
        tool_choice=ToolChoice(kind="required"),
        response_format=ResponseFormat(kind="json_schema", name="n", schema=SCHEMA),
    )


def test_without_messages_there_is_no_request() -> None:
    assert read_request({"question": "Weather?"}) is None


@given(st.one_of(values, chat_bodies, response_bodies, anthropic_bodies), values | chat_bodies)
def test_any_value_is_a_request_or_unknown(recorded: Any, parameters: Any) -> None:
    request = read_request(recorded, parameters)
    assert request is None or request_sha256(request)
