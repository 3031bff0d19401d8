"""What makes the request of an agent equal to a recorded one.

Ids of calls, thinking, names of authors, marks for caches and what only identifies the caller are not compared. If the whole body of the
request was recorded, everything else is. Otherwise a setting that the record does not have (the system prompt, tools,
a parameter) is not a difference, because nothing shows that the request did not have it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from hashlib import blake2b
from itertools import count
from typing import Any, Final

from timemachine.llm.pure.requests.canonical import request_sha256
from timemachine.llm.pure.requests.neutral import (
    BuiltInTool,
    Extra,
    Message,
    Parameters,
    Part,
    Request,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolResult,
)

NOT_COMPARED: Final = frozenset(
    {
        "metadata",
        "user",
        "store",
        "service_tier",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "cache_control",
        "include",
        "betas",
    }
)
"""Fields that identify the caller, or say how an answer is delivered and charged."""
_INSTRUCTING: Final = ("system", "developer")
_DATE: Final = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")


class Hasher:
    """Computes the canonical hash of a part of a request once, because the requests of a session repeat each other's
    messages and tools.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}

    def messages(self, request: Request) -> tuple[str, ...]:
        """Return the SHA-256 of each message.

        Raises:
            RequestError: A value in it is nested too deeply, or has a number that JSON does not have.
        """
        return tuple(self._sha256(each) for each in request.messages)

    def settings(self, request: Request) -> str:
        """Return the SHA-256 of everything but the messages. Raises as `messages`."""
        return self._sha256(replace(request, messages=()))

    def _sha256(self, found: Message | Request) -> str:
        written = blake2b(repr(found).encode(), digest_size=20).digest()
        if written not in self._known:
            request = found if isinstance(found, Request) else Request(messages=(found,))
            self._known[written] = request_sha256(request)
        return self._known[written]


def equal_first(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many values are the same before the first that differs."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))


def comparable(request: Request) -> Request:
    """Return the request with only what is compared. Calls are numbered in their order instead of having ids."""
    ids: dict[str, str] = {}
    numbers = count(1)
    messages = [_message(message, ids, numbers) for message in request.messages]
    return replace(
        request,
        system=tuple(_plain(part) for part in request.system),
        messages=tuple(
            each
            for each, before in zip(messages, request.messages, strict=True)
            if each.parts or not before.parts
        ),
        tools=tuple(
            each if isinstance(each, BuiltInTool) else replace(each, extra={}) for each in request.tools
        ),
        response_format=request.response_format and replace(request.response_format, extra={}),
        parameters=replace(request.parameters, extra=_compared(request.parameters.extra)),
    )


def _message(message: Message, ids: dict[str, str], numbers: Iterator[int]) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            ids[part.id] = f"{next(numbers)}"
            parts.append(_call(part, ids[part.id]))
        elif isinstance(part, ToolResult):
            inner = tuple(_plain(each) for each in part.parts)
            parts.append(ToolResult(call_id=ids.get(part.call_id, ""), parts=inner))
        elif not isinstance(part, Thinking):
            parts.append(_plain(part))
    return Message(role=message.role, parts=tuple(parts))


def _call(call: ToolCall, number: str) -> ToolCall:
    arguments = call.arguments if call.raw is None else call.raw
    return ToolCall(id=number, name=call.name, arguments=arguments)


def _plain(part: Any) -> Any:
    if isinstance(part, Text):
        return Text(part.text)
    return replace(part, extra={}) if hasattr(part, "extra") else part


def _compared(extra: Extra) -> Extra:
    found = {
        owner: {name: value for name, value in own.items() if name not in NOT_COMPARED}
        for owner, own in extra.items()
    }
    return {owner: own for owner, own in found.items() if own}


def without_instructions(request: Request) -> Request:
    """Return the request without its system prompt and the instructions among its messages."""
    messages = tuple(each for each in request.messages if each.role not in _INSTRUCTING)
    return replace(request, system=(), messages=messages)


def with_joined_messages(request: Request) -> Request:
    """Return the request with neighbouring messages of the same role as one, except the results of tools."""
    messages: list[Message] = []
    for each in request.messages:
        if messages and messages[-1].role == each.role != "tool":
            messages[-1] = replace(messages[-1], parts=messages[-1].parts + each.parts)
        else:
            messages.append(each)
    return replace(request, messages=tuple(messages))


def as_far_as_recorded(asked: Request, recorded: Request) -> Request:
    """Return a request without the settings that the recorded one does not have."""
    known = {
        each.name: getattr(asked.parameters, each.name)
        for each in fields(Parameters)
        if each.name != "extra" and getattr(recorded.parameters, each.name) not in (None, ())
    }
    return replace(
        asked,
        model=recorded.model if same_model(asked.model, recorded.model) else asked.model,
        system=asked.system if recorded.system else (),
        tools=_with_recorded_fields(asked, recorded) if recorded.tools else (),
        tool_choice=asked.tool_choice if recorded.tool_choice else None,
        response_format=asked.response_format if recorded.response_format else None,
        parameters=Parameters(**known),
    )


def _with_recorded_fields(asked: Request, recorded: Request) -> tuple[Tool | BuiltInTool, ...]:
    """Return the tools without the fields that the recorded one of the same name does not have."""
    known = {each.name: each for each in recorded.tools if isinstance(each, Tool)}
    return tuple(
        _tool(each, known.get(each.name)) if isinstance(each, Tool) else each for each in asked.tools
    )


def _tool(asked: Tool, recorded: Tool | None) -> Tool:
    if recorded is None:
        return asked
    return Tool(
        name=asked.name,
        description=None if recorded.description is None else asked.description,
        schema=None if recorded.schema is None else asked.schema,
        strict=None if recorded.strict is None else asked.strict,
    )


def same_model(asked: str | None, recorded: str | None) -> bool:
    """Return whether a model that was asked for can be the one that is recorded: by its name, with or without the
    provider and the date of its version. One that was not recorded can be any.
    """
    if recorded is None or asked is None:
        return recorded is None
    plain = recorded.partition(":")[2] or recorded
    return asked in (recorded, plain) or _DATE.sub("", asked) == _DATE.sub("", plain)
