"""OpenAI's chat completions, which Gemini, xAI, Groq, Mistral and Ollama take at their compatible addresses, too.

https://platform.openai.com/docs/api-reference/chat/create
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.chat_parts import read_content, write_content
from timemachine.llm.pure.requests.json_values import (
    RequestError,
    arguments_of,
    as_text,
    body_of,
    extra_of,
    name_at,
    object_at,
    objects_at,
    rest,
    text_at,
)
from timemachine.llm.pure.requests.moved_media import with_moved_media
from timemachine.llm.pure.requests.neutral import (
    OPENAI,
    RESPONSES,
    Message,
    Other,
    Part,
    Refusal,
    Request,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Written,
)
from timemachine.llm.pure.requests.notes import Notes
from timemachine.llm.pure.requests.openai_settings import (
    SHARED,
    read_choice,
    read_format,
    read_tools,
    write_choice,
    write_format,
    write_tools,
)
from timemachine.llm.pure.requests.parameters import own_fields, read_fields, write_fields

_ROLES: Final = frozenset(get_args(Role)) | {"function"}
_NAMES: Final[Mapping[str, str]] = {
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "random_seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "reasoning_effort": "effort",
    "verbosity": "verbosity",
    "parallel_tool_calls": "parallel_tool_calls",
    "stop": "stop",
}
"""Our name for each parameter. `random_seed` is Mistral's: https://docs.mistral.ai/api/"""
_REASONING: Final = "reasoning_content"
"""Where DeepSeek and compatible servers write the reasoning: https://api-docs.deepseek.com/guides/thinking_mode"""


def read(body: object, *, provider: str = OPENAI) -> Request:
    """Read the body of a request to `/chat/completions`. `provider` names the server, whose own fields are kept for it.

    Content as a text and as one part of text are the same. So are absent, null and empty content, and the limits
    `max_tokens` and `max_completion_tokens`.

    Raises:
        RequestError: It is not such a body.
    """
    found = body_of(body)
    messages = read_messages(found.get("messages"), provider=provider)
    system: tuple[Text | Other, ...] = ()
    if messages and _is_system_prompt(messages[0]):
        system = tuple(part for part in messages[0].parts if isinstance(part, Text | Other))
        messages = messages[1:]
    stop = found.get("stop")
    stated = {**found, "stop": [stop]} if isinstance(stop, str) else found
    choice, kept_choice = read_choice(found, nested=True)
    form, kept_form = read_format(found.get("response_format"), "json_schema", provider)
    handled = frozenset({"model", "messages", "tools"})
    handled |= frozenset() if kept_choice else frozenset({"tool_choice"})
    handled |= frozenset() if kept_form else frozenset({"response_format"})
    return Request(
        model=text_at(found, "model"),
        system=system,
        messages=messages,
        tools=read_tools(found, provider, nested=True),
        tool_choice=choice,
        response_format=form,
        parameters=read_fields(stated, _NAMES, handled).parameters(provider),
    )


def write(
    request: Request,
    *,
    provider: str = OPENAI,
    limit_parameter: str = "max_completion_tokens",
    seed_parameter: str | None = "seed",
) -> Written:
    """Write the body for `/chat/completions`. `provider` names the server; the other two are its names of parameters,
    `seed_parameter` is None if it has none. Images, documents and recordings in results of tools become a message of the
    user, which is noted.
    """
    notes = Notes(provider)
    names = {ours: field for field, ours in _NAMES.items()}
    names |= {"max_tokens": limit_parameter} | ({"seed": seed_parameter} if seed_parameter else {})
    if seed_parameter is None:
        del names["seed"]
    parameters = request.parameters
    system = [Message(role="system", parts=request.system)] if request.system else []
    placed = with_moved_media((*system, *request.messages), notes)
    messages = [each for message in placed for each in _write_message(message, notes)]
    body: JsonObject = {
        **({} if request.model is None else {"model": request.model}),
        "messages": messages,
        **write_tools(request.tools, notes, nested=True),
        **write_choice(request.tool_choice, nested=True),
        **own_fields(parameters.extra, notes, {RESPONSES: SHARED} if provider == OPENAI else {}),
        **write_fields(parameters, names, notes),
        **write_format(request.response_format, notes, "response_format", "json_schema"),
    }
    return Written(body=body, dropped=notes.sentences)


def read_messages(value: object, *, provider: str = OPENAI) -> tuple[Message, ...]:
    """Read a list of messages.

    Raises:
        RequestError: It is not one.
    """
    found = objects_at({"messages": value}, "messages")
    messages = [
        _read_message(message, f"messages[{number}]", provider) for number, message in enumerate(found)
    ]
    free_text = {call.id for message in messages for call in message.calls if call.free_text}
    return tuple(_marked(message, free_text) if free_text else message for message in messages)


def _marked(message: Message, free_text: set[str]) -> Message:
    """Mark the results of calls with free text, which the Responses API tells apart."""
    parts = (
        replace(part, free_text=True) if isinstance(part, ToolResult) and part.call_id in free_text else part
        for part in message.parts
    )
    return replace(message, parts=tuple(parts))


def _is_system_prompt(message: Message) -> bool:
    plain = all(isinstance(part, Text | Other) for part in message.parts)
    return message.role == "system" and bool(message.parts) and plain and not (message.name or message.extra)


def _read_message(message: JsonObject, where: str, provider: str) -> Message:
    role = text_at(message, "role")
    if role not in _ROLES:
        raise RequestError(
            f"`{where}` has the role {message.get('role')!r}, which chat completions does not have."
        )
    if role in {"tool", "function"}:
        return _read_result(message, where, provider)
    parts: list[Part] = []
    known = ["role", "content", "name"]
    if role == "assistant":
        known += ["tool_calls", "function_call", "refusal", _REASONING]
        reasoning = text_at(message, _REASONING)
        parts += [Thinking(provider=provider, text=reasoning)] if reasoning else []
        parts += read_content(message.get("content"), where, provider)
        parts += [Refusal(text)] if (text := text_at(message, "refusal")) else []
        parts += _read_calls(message, where, provider)
    else:
        parts += read_content(message.get("content"), where, provider)
    return Message(
        role=role,  # type: ignore[arg-type]
        parts=tuple(parts),
        name=text_at(message, "name"),
        extra=extra_of(provider, rest(message, *known)),
    )


def _read_result(message: JsonObject, where: str, provider: str) -> Message:
    """Read a result. One with the role `function` is a result of the older form, without an id."""
    call_id = text_at(message, "tool_call_id") if message["role"] == "tool" else None
    result = ToolResult(
        call_id=call_id or "",
        parts=tuple(
            part
            for part in read_content(message.get("content"), where, provider)
            if not isinstance(part, Refusal)
        ),
        name=text_at(message, "name"),
        extra=extra_of(provider, rest(message, "role", "content", "name", "tool_call_id")),
    )
    return Message(role="tool", parts=(result,))


def _read_calls(message: JsonObject, where: str, provider: str) -> list[ToolCall]:
    calls = [
        _read_call(call, f"{where}.tool_calls[{number}]", provider)
        for number, call in enumerate(objects_at(message, "tool_calls", f"{where}."))
    ]
    older = object_at(message, "function_call")
    if older:
        calls.append(_read_call({"function": older}, f"{where}.function_call", provider))
    return calls


def _read_call(call: JsonObject, where: str, provider: str) -> ToolCall:
    custom = call.get("type") == "custom"
    field = "custom" if custom else "function"
    function = object_at(call, field)
    inner = rest(function, "name", "input" if custom else "arguments")
    outer = rest(call, "id", "type", field)
    own = {**outer, **({field: inner} if inner else {})}
    arguments, raw = (
        (None, text_at(function, "input") or "") if custom else arguments_of(function.get("arguments"))
    )
    return ToolCall(
        id=text_at(call, "id") or "",
        name=name_at(function, where),
        arguments=arguments,
        raw=raw,
        free_text=custom,
        extra=extra_of(provider, own),
    )


def _write_message(message: Message, notes: Notes) -> list[JsonObject]:
    if message.role == "tool":
        if write_content([part for part in message.parts if not isinstance(part, ToolResult)], notes):
            notes.unknown("A part next to a tool result")
        return [_write_result(part, notes) for part in message.results]
    own = notes.own(message.extra)
    if message.role == "assistant":
        return [{"role": "assistant", **_write_answer(message, notes), **_named(message.name), **own}]
    content = write_content(message.parts, notes)
    return [{"role": message.role, "content": content or "", **_named(message.name), **own}]


def _named(name: str | None) -> JsonObject:
    return {} if name is None else {"name": name}


def _write_result(result: ToolResult, notes: Notes) -> JsonObject:
    if result.is_error:
        notes.unknown("The flag that a result is an error")
    content = write_content(result.parts, notes) or ""
    if not result.call_id and result.name:
        return {"role": "function", "content": content, "name": result.name, **notes.own(result.extra)}
    return {
        "role": "tool",
        "tool_call_id": result.call_id,
        "content": content,
        **_named(result.name),
        **notes.own(result.extra),
    }


def _write_answer(message: Message, notes: Notes) -> JsonObject:
    thinking = [part for part in message.parts if isinstance(part, Thinking)]
    own = [part.text for part in thinking if part.provider == notes.provider]
    for part in thinking:
        if part.provider != notes.provider:
            notes.part(part)
    parts = [part for part in message.parts if not isinstance(part, Thinking | ToolCall)]
    refusals = [part for part in parts if isinstance(part, Refusal)]
    alone = len(refusals) == 1 and parts[-1] is refusals[0] and not refusals[0].extra
    content = write_content(parts[:-1] if alone else parts, notes)
    calls = message.calls
    return {
        "content": content if content or calls or refusals else "",
        **({"refusal": refusals[0].text} if alone else {}),
        **({_REASONING: "".join(own)} if own else {}),
        **_write_calls(calls, notes),
    }


def _write_calls(calls: tuple[ToolCall, ...], notes: Notes) -> JsonObject:
    written = [_write_call(call, notes) for call in calls]
    if len(calls) == 1 and not (calls[0].id or calls[0].free_text or calls[0].extra):
        return {"function_call": written[0]["function"]}
    return {"tool_calls": written} if written else {}


def _write_call(call: ToolCall, notes: Notes) -> JsonObject:
    own: dict[str, Any] = notes.own(call.extra)
    field = "custom" if call.free_text else "function"
    inner = object_at(own, field)
    if call.free_text:
        value = {"name": call.name, "input": call.raw or "", **inner}
    else:
        text = call.raw if call.raw is not None else as_text(call.arguments)
        value = {"name": call.name, "arguments": text, **inner}
    return {"id": call.id, "type": field, **own, field: value}
