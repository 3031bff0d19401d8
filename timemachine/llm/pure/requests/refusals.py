"""What a provider does not accept, by its own documentation, so that it is known before anything is sent.

Rules that depend on the model, which change by the month, are left to the provider's error.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from timemachine.llm.pure.requests.json_values import is_integer, object_at
from timemachine.llm.pure.requests.neutral import (
    ANTHROPIC,
    OPENAI,
    RESPONSES,
    Message,
    Request,
    Thinking,
    Tool,
    ToolCall,
)
from timemachine.llm.pure.requests.pairing import unpaired
from timemachine.llm.pure.requests.refused_media import refused_media

_TEMPERATURES: Final[Mapping[str, float]] = {
    "openai": 2,  # https://platform.openai.com/docs/api-reference/chat/create
    "anthropic": 1,  # https://platform.claude.com/docs/en/api/messages
    "gemini": 2,  # https://ai.google.dev/api/generate-content#generationconfig
    "groq": 2,  # https://console.groq.com/docs/api-reference
    "mistral": 1.5,  # https://docs.mistral.ai/api/
    "xai": 2,  # https://docs.x.ai/docs/api-reference
}
"""The highest temperature. The lowest is 0 everywhere."""
_NAMES: Final = {
    "openai": re.compile(
        r"[a-zA-Z0-9_-]{1,64}"
    ),  # https://platform.openai.com/docs/api-reference/chat/create
    "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,128}"),  # https://platform.claude.com/docs/en/api/messages
}
_IDS_OF_CALLS: Final = re.compile(r"[a-zA-Z0-9_-]+")
"""For Anthropic: https://platform.claude.com/docs/en/api/messages"""
_MOST_TOOLS: Final = 128
"""For OpenAI: https://github.com/openai/openai-openapi/pull/76"""
_MOST_STOPS: Final = 4
"""For OpenAI: https://platform.openai.com/docs/api-reference/chat/create"""
_LARGEST_PENALTY: Final = 2
_SMALLEST_BUDGET: Final = 1024
"""https://platform.claude.com/docs/en/build-with-claude/extended-thinking"""
_STORED: Final = ("previous_response_id", "conversation", "prompt")
"""Parameters of the Responses API that refer to what OpenAI stored."""

Rule = Callable[[Request, str], Iterator[str]]


def api_of(provider: str) -> str:
    """Return the API with which we call a provider: Anthropic's own, chat completions for all others."""
    return ANTHROPIC if provider == ANTHROPIC else OPENAI


def refusal(request: Request, provider: str, *, api: str | None = None) -> str | None:
    """Return why a provider does not accept a request, in one line, or None if nothing is known."""
    return " ".join(refusals(request, provider, api=api)) or None


def refusals(request: Request, provider: str, *, api: str | None = None) -> tuple[str, ...]:
    """Return every reason why a provider does not accept a request, each as a sentence.

    `provider` is one of the built-in providers, or any other server with OpenAI's API. `api` is `RESPONSES` for
    OpenAI's other API.
    """
    chosen = api or api_of(provider)
    rules: tuple[Rule, ...] = (*_COMMON, *_RULES[chosen])
    found = [reason for rule in rules for reason in rule(request, provider)]
    found += unpaired(request, chosen)
    found += refused_media(request, chosen)
    return tuple(dict.fromkeys(found))


def _without_messages(request: Request, provider: str) -> Iterator[str]:  # noqa: ARG001
    if not request.messages and not _stored(request):
        yield "The request has no messages."


def _stored(request: Request) -> list[str]:
    own = request.parameters.extra.get(RESPONSES, {})
    return [name for name in _STORED if own.get(name)]


def _temperature(request: Request, provider: str) -> Iterator[str]:
    temperature, most = request.parameters.temperature, _TEMPERATURES.get(provider)
    if temperature is not None and (temperature < 0 or (most is not None and temperature > most)):
        limit = "at least 0" if most is None else f"between 0 and {most:g}"
        yield f"The temperature is {temperature:g} but must be {limit}."


def _top_p(request: Request, provider: str) -> Iterator[str]:
    top_p = request.parameters.top_p
    if provider in _NAMES and top_p is not None and not 0 <= top_p <= 1:
        yield f"`top_p` is {top_p:g} but must be between 0 and 1."


def _names(request: Request, provider: str) -> Iterator[str]:
    pattern = _NAMES.get(provider)
    called = [call.name for message in request.messages for call in message.calls]
    for name in (*(tool.name for tool in request.tools if isinstance(tool, Tool)), *called):
        if pattern and not pattern.fullmatch(name):
            most = pattern.pattern.rpartition(",")[2].removesuffix("}")
            yield (
                f"The tool `{name}` has an invalid name: names have 1 to {most} English letters, digits, underscores and"
                " hyphens."
            )


def _chosen_tool(request: Request, provider: str) -> Iterator[str]:  # noqa: ARG001
    choice = request.tool_choice
    if choice is None or choice.kind in ("auto", "none"):
        return
    if not request.tools:
        yield "The request requires a tool call but has no tools."
        return
    names = {tool.name for tool in request.tools if isinstance(tool, Tool)}
    all_known = all(isinstance(tool, Tool) for tool in request.tools)
    if choice.kind == "tool" and all_known and choice.name not in names:
        yield f"The request requires a call to the tool `{choice.name}`, which it does not define."


def _stored_elsewhere(request: Request, provider: str) -> Iterator[str]:  # noqa: ARG001
    for name in _stored(request):
        yield f"The request continues a conversation stored at OpenAI (`{name}`), which only the Responses API can read."


def _of_openai(request: Request, provider: str) -> Iterator[str]:
    if provider != OPENAI:
        return
    if len(request.tools) > _MOST_TOOLS:
        yield f"The request has {len(request.tools):,} tools; the maximum is {_MOST_TOOLS}."
    for name in ("frequency_penalty", "presence_penalty"):
        penalty = getattr(request.parameters, name)
        if penalty is not None and abs(penalty) > _LARGEST_PENALTY:
            yield f"`{name}` is {penalty:g} but must be between -2 and 2."
    if request.messages and request.messages[-1].role == "assistant":
        yield "The request ends with the beginning of an answer, which OpenAI models cannot continue."


def _of_chat(request: Request, provider: str) -> Iterator[str]:
    stops = len(request.parameters.stop)
    if provider == OPENAI and stops > _MOST_STOPS:
        yield f"The request has {stops} stop sequences; the maximum is {_MOST_STOPS}."


def _format(request: Request, provider: str) -> Iterator[str]:  # noqa: ARG001
    if request.response_format is not None and request.response_format.kind == "json":
        yield "The answer must be a JSON object, which Anthropic's API guarantees only with a schema."


def _schemas(request: Request, provider: str) -> Iterator[str]:  # noqa: ARG001
    for tool in request.tools:
        if isinstance(tool, Tool) and tool.schema and tool.schema.get("type") != "object":
            yield f"The schema of the tool `{tool.name}` does not describe a JSON object (`type` is not `object`)."


def _turns(request: Request, provider: str) -> Iterator[str]:  # noqa: ARG001
    last = len(request.messages) - 1
    spoken = False
    for number, message in enumerate(request.messages):
        if not message.parts and not (number == last and message.role == "assistant"):
            yield f"Message {number + 1} ({message.role}) is empty."
        before = request.messages[number - 1] if number else message
        instructs = message.role in ("system", "developer")
        if instructs and spoken and before.role == "assistant":
            yield f"Message {number + 1} ({message.role}) follows an answer; it may follow only a user message."
        spoken = spoken or not instructs
    text = request.messages[-1].text if request.messages else ""
    if request.messages and request.messages[-1].role == "assistant" and text != text.rstrip():
        yield "The beginning of the answer must not end with white space."


def _calls(request: Request, provider: str) -> Iterator[str]:  # noqa: ARG001
    for message in request.messages:
        yield from (reason for call in message.calls for reason in _call(call))
        yield from _unsigned(message)


def _call(call: ToolCall) -> Iterator[str]:
    if not call.id:
        yield f"A call to `{call.name}` has no ID."
    elif not _IDS_OF_CALLS.fullmatch(call.id):
        yield f"The ID of a call to `{call.name}` contains characters other than letters, digits, underscores and hyphens."
    if call.raw is None and not isinstance(call.arguments, dict):
        yield f"The arguments of a call to `{call.name}` are not a JSON object."


def _unsigned(message: Message) -> Iterator[str]:
    for part in message.parts:
        if (
            isinstance(part, Thinking)
            and part.provider == ANTHROPIC
            and part.data is None
            and not part.signature
        ):
            yield "A thinking block has no signature."


def _budget(request: Request, provider: str) -> Iterator[str]:  # noqa: ARG001
    budget = object_at(request.parameters.extra.get(ANTHROPIC, {}), "thinking").get("budget_tokens")
    most = request.parameters.max_tokens
    if budget is None or not is_integer(budget):
        return
    if budget < _SMALLEST_BUDGET:
        yield f"The thinking budget is {budget:,} tokens; {_SMALLEST_BUDGET:,} is the minimum."
    if most is not None and budget >= most:
        yield f"The thinking budget ({budget:,} tokens) must be less than `max_tokens` ({most:,})."


_COMMON: Final[tuple[Rule, ...]] = (_without_messages, _temperature, _top_p, _names, _chosen_tool)
_RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    OPENAI: (_of_openai, _of_chat, _stored_elsewhere),
    RESPONSES: (_of_openai,),
    ANTHROPIC: (_format, _schemas, _turns, _calls, _budget, _stored_elsewhere),
}
