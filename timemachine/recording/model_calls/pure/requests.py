"""The request of a recorded model call: as it was recorded, or rebuilt, with what is absent."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests import anthropic_messages, openai_chat, openai_responses
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import Message, Parameters, Request, Text, Thinking
from timemachine.llm.pure.requests.recorded import read_messages
from timemachine.recording.model_calls.pure.conversation import Conversation
from timemachine.recording.model_calls.pure.values import content_parts

RequestVerdict = Literal["verified", "altered", "missing", "reconstructed", "not_recorded"]
"""`verified`: it was recorded, and its bytes have the recorded hash. `reconstructed`: only turns were recorded."""
SYSTEM_PROMPT: Final = "system prompt"
TOOLS: Final = "tool definitions"
THINKING: Final = "thinking"
PARAMETERS: Final = "parameters"
_NAMES: Final = {
    "effort": "reasoning_effort",
    "max_output_tokens": "max_tokens",
    "maxOutputTokens": "max_tokens",
    "maxTokens": "max_tokens",
    "stopSequences": "stop",
    "stop_sequences": "stop",
    "topP": "top_p",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
}
"""Other names under which sources record a parameter."""
_SENT: Final = frozenset(
    {
        "frequency_penalty",
        "logit_bias",
        "max_completion_tokens",
        "max_tokens",
        "parallel_tool_calls",
        "presence_penalty",
        "reasoning_effort",
        "response_format",
        "seed",
        "service_tier",
        "stop",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
        "top_k",
        "top_p",
        "verbosity",
    }
)
"""The recorded parameters that were part of the request. Others say how it was answered, or how the agent was set up."""
_INSTRUCTIONS: Final = ("system_instructions", "system", "instructions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What else is known of a call: its model, its parameters, whether it called tools, and the steps whose stored
    bytes are not those that were recorded (`altered`) or that were deleted."""

    model: str | None = None
    parameters: JsonObject | None = None
    called_tools: bool = False
    altered: tuple[int, ...] = ()
    deleted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenRequest:
    """A request as it can be sent again to any model; `model` is the one that it was sent to. `absent` names what was not recorded; `steps` are those it was rebuilt from,
    without those of the sessions that this one continues, which `inherited` counts."""

    request: Request
    model: str | None
    verdict: RequestVerdict
    absent: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()
    inherited: int = 0


def recorded(value: Any, about: Circumstances) -> FrozenRequest | None:
    """Return the request that a call recorded as its input; None if that is no request."""
    settings = _settings(about)
    request = _read(value, settings) if isinstance(value, Mapping) else None
    if request is None:
        messages = read_messages(value)
        if not messages:
            return None
        request = _with_messages(settings, messages)
    calls = about.called_tools or any(message.calls for message in request.messages)
    absent = (TOOLS,) if calls and not request.tools else ()
    verdict: RequestVerdict = "altered" if about.altered else "verified"
    return FrozenRequest(request=request, model=about.model, verdict=verdict, absent=absent)


def rebuilt(conversation: Conversation, about: Circumstances) -> FrozenRequest:
    """Return the request that a call must have sent, from the conversation before it. What was not recorded is named."""
    messages = tuple(filter(None, map(_without_unsigned, conversation.messages)))
    request = _with_messages(_settings(about), messages)
    there = {
        THINKING: messages == conversation.messages,
        SYSTEM_PROMPT: bool(request.system) or any(each.role == "system" for each in request.messages),
        TOOLS: bool(request.tools),
        PARAMETERS: request.parameters != Parameters(),
    }
    return FrozenRequest(
        request=request,
        model=about.model,
        verdict=_verdict(conversation, about),
        absent=tuple(name for name, is_there in there.items() if not is_there),
        steps=tuple(step for step in conversation.steps if step > 0),
        inherited=sum(1 for step in conversation.steps if step <= 0),
    )


def _without_unsigned(message: Message) -> Message | None:
    """Return the message without thinking that no API takes back because its signature was not recorded; None if it has
    nothing else."""
    parts = tuple(
        part
        for part in message.parts
        if not isinstance(part, Thinking) or part.signature is not None or part.data is not None
    )
    return replace(message, parts=parts) if parts else None


def _verdict(conversation: Conversation, about: Circumstances) -> RequestVerdict:
    if not conversation.messages:
        return "not_recorded"
    used = frozenset(conversation.steps)
    if used.intersection(about.altered):
        return "altered"
    return "missing" if about.deleted else "reconstructed"


def _read(value: Mapping[str, Any], settings: Request) -> Request | None:
    """Read the body of a request to one of the known APIs, with the parameters that were recorded with it."""
    body = dict(value)
    readers = (
        (anthropic_messages.read,) if "system" in body and "messages" in body
        else (openai_chat.read, anthropic_messages.read) if "messages" in body
        else (openai_responses.read,) if "input" in body
        else ()
    )  # fmt: skip
    for read in readers:
        try:
            found = read(body)
        except RequestError:
            continue
        return replace(
            found,
            model=None,
            system=found.system or settings.system,
            tools=found.tools or settings.tools,
            tool_choice=found.tool_choice or settings.tool_choice,
            response_format=found.response_format or settings.response_format,
            parameters=settings.parameters if found.parameters == Parameters() else found.parameters,
        )
    return None


def _with_messages(settings: Request, messages: tuple[Message, ...]) -> Request:
    if not messages:
        return settings
    first = messages[0]
    texts = tuple(part for part in first.parts if isinstance(part, Text))
    if settings.system or first.role not in {"system", "developer"} or len(texts) != len(first.parts):
        return replace(settings, messages=messages)
    return replace(settings, system=texts, messages=messages[1:])


def _settings(about: Circumstances) -> Request:
    """Return a request without messages: model, system prompt, tools and parameters, as far as they were recorded."""
    given = {_NAMES.get(name, name): value for name, value in (about.parameters or {}).items()}
    instructions = next((given[name] for name in _INSTRUCTIONS if given.get(name)), None)
    system = tuple(part for part in content_parts(instructions) if isinstance(part, Text))
    sent = {name: value for name, value in given.items() if name in _SENT and value is not None}
    return replace(_read_settings(sent), system=system)


def _read_settings(sent: JsonObject) -> Request:
    """Read parameters by the names of OpenAI or Anthropic. Tools in another form than theirs are left out."""
    for read in (openai_chat.read, anthropic_messages.read):
        with suppress(RequestError):
            return read({**sent, "messages": []})
    return openai_chat.read({**sent, "tools": None, "tool_choice": None, "messages": []})
