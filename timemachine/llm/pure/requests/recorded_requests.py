"""A whole request from the recorded input and parameters of a model call."""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests import anthropic_settings, openai_settings
from timemachine.llm.pure.requests.json_values import RequestError, checked, object_at
from timemachine.llm.pure.requests.neutral import Message, Parameters, Request, Text, ToolChoice
from timemachine.llm.pure.requests.parameters import flattened, read_fields
from timemachine.llm.pure.requests.recorded import read_messages, read_tools
from timemachine.llm.pure.requests.recorded_forms import RECORDING

_NAMES: Final[Mapping[str, str]] = {
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "max_tokens": "max_tokens",
    "maxOutputTokens": "max_tokens",
    "maxTokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "topP": "top_p",
    "stop": "stop",
    "stop_sequences": "stop",
    "stopSequences": "stop",
    "seed": "seed",
    "random_seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "frequencyPenalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "presencePenalty": "presence_penalty",
    "reasoning_effort": "effort",
    "reasoning.effort": "effort",
    "output_config.effort": "effort",
    "verbosity": "verbosity",
    "parallel_tool_calls": "parallel_tool_calls",
}
"""Our name for each parameter, as APIs, OpenTelemetry, LangChain, Gemini and Vercel's AI SDK write it."""


def read_request(recorded: object, parameters: object = None, *, model: str | None = None) -> Request | None:
    """Return the request of a recorded model call; None if its messages are in no known form.

    `recorded` is the call's input, `parameters` are its recorded parameters. Tools, the system prompt, the choice of
    tools and the form of the answer are in either. Other fields are left out, as nothing shows which API knows them.
    """
    messages = read_messages(recorded)
    if messages is None:
        return None
    settings = {**(recorded if isinstance(recorded, dict) else {}), **_known(parameters)}
    messages = (*_instructions(settings.get("system_instructions")), *messages)
    system: tuple[Text, ...] = ()
    if messages and messages[0].role == "system" and messages[0].name is None:
        system = tuple(part for part in messages[0].parts if isinstance(part, Text))
        messages = messages[1:]
    form, _ = openai_settings.read_format(settings.get("response_format"), "json_schema", RECORDING)
    return Request(
        model=model,
        system=system,
        messages=messages,
        tools=read_tools(settings["tools"]) or () if settings.get("tools") else (),
        tool_choice=_choice(settings),
        response_format=form,
        parameters=_parameters(settings),
    )


def _known(parameters: object) -> JsonObject:
    try:
        checked(parameters)
    except RequestError:
        return {}
    return parameters if isinstance(parameters, dict) else {}


def _instructions(value: Any) -> tuple[Message, ...]:
    """Read the system instructions of OpenTelemetry: a text, or a list of parts."""
    if isinstance(value, str):
        return (Message(role="system", parts=(Text(value),)),)
    return read_messages([{"role": "system", "parts": value}]) or () if isinstance(value, list) else ()


def _choice(settings: JsonObject) -> ToolChoice | None:
    choice, _ = openai_settings.read_choice(settings, nested=True)
    return choice or anthropic_settings.read_choice(settings.get("tool_choice"))[0]


def _parameters(settings: JsonObject) -> Parameters:
    stop = settings.get("stop")
    stated = {**settings, "stop": [stop]} if isinstance(stop, str) else settings
    for field in ("reasoning", "output_config"):
        stated = flattened(stated, field, "effort")
    known = read_fields({**object_at(stated, "generationConfig"), **stated}, _NAMES, frozenset()).known
    return Parameters(**{**known, "stop": tuple(known.get("stop", ()))})
