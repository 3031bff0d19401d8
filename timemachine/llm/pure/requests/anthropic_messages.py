"""Anthropic's Messages API: https://platform.claude.com/docs/en/api/messages

Neighbouring messages with the same role are one turn there, and results of tools come first in the turn of the user:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.anthropic_blocks import read_blocks, shortened, text_blocks, write_blocks
from timemachine.llm.pure.requests.anthropic_settings import (
    read_choice,
    read_format,
    read_tools,
    write_choice,
    write_format,
    write_tools,
)
from timemachine.llm.pure.requests.json_values import (
    RequestError,
    body_of,
    extra_of,
    objects_at,
    rest,
    text_at,
)
from timemachine.llm.pure.requests.neutral import (
    ANTHROPIC,
    Message,
    Other,
    Part,
    Request,
    Text,
    ToolResult,
    Written,
)
from timemachine.llm.pure.requests.notes import Notes
from timemachine.llm.pure.requests.parameters import (
    flattened,
    folded,
    own_fields,
    read_fields,
    write_fields,
)

_NAMES: Final[Mapping[str, str]] = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stop_sequences": "stop",
    "output_config.effort": "effort",
}
_CONFIG: Final = ("output_config", "effort", "format")
_FORM: Final = "output_config.format"
_ROLES: Final = ("user", "assistant", "system")
_INSTRUCTING: Final = ("system", "developer")


@dataclass(slots=True)
class _Turn:
    role: str
    blocks: list[JsonObject] = field(default_factory=list)
    extra: JsonObject = field(default_factory=dict)


def read(body: object) -> Request:
    """Read the body of a request to `/v1/messages`. Results of tools become messages of their own.

    Raises:
        RequestError: It is not such a body.
    """
    found = body_of(body)
    messages = read_messages(found.get("messages"))
    leading = _leading(messages)
    parts = [*read_blocks(found.get("system"), "system")]
    parts += [part for message in messages[:leading] for part in message.parts]
    choice, parallel, kept_choice = read_choice(found.get("tool_choice"))
    stated = flattened(found, *_CONFIG)
    form, kept_form = read_format(stated.get(_FORM))
    handled = frozenset({"model", "messages", "system", "tools"})
    handled |= frozenset() if kept_choice else {"tool_choice"}
    handled |= frozenset() if kept_form else {_FORM}
    parameters = read_fields(stated, _NAMES, handled).parameters(ANTHROPIC)
    return Request(
        model=text_at(found, "model"),
        system=tuple(part for part in parts if isinstance(part, Text | Other)),
        messages=messages[leading:],
        tools=read_tools(found),
        tool_choice=choice,
        response_format=form,
        parameters=replace(parameters, parallel_tool_calls=parallel),
    )


def read_messages(value: object) -> tuple[Message, ...]:
    """Read a list of messages.

    Raises:
        RequestError: It is not one.
    """
    turns: list[_Turn] = []
    for number, message in enumerate(objects_at({"messages": value}, "messages")):
        where = f"messages[{number}]"
        role = text_at(message, "role")
        if role not in _ROLES:
            raise RequestError(
                f"`{where}` has the role {message.get('role')!r}, which the Messages API does not have."
            )
        blocks = text_blocks(message.get("content"), f"{where}.content")
        _add(turns, role, blocks, rest(message, "role", "content"))
    return tuple(
        message for number, turn in enumerate(turns) for message in _read_turn(turn, f"turns[{number}]")
    )


def _add(turns: list[_Turn], role: str, blocks: Iterable[JsonObject], extra: JsonObject) -> bool:
    """Add a message; return whether it continues the turn before it."""
    same = bool(turns) and turns[-1].role == role
    if not same:
        turns.append(_Turn(role))
    turns[-1].blocks += blocks
    turns[-1].extra |= extra
    return same


def _read_turn(turn: _Turn, where: str) -> list[Message]:
    parts = read_blocks(turn.blocks, where)
    extra = extra_of(ANTHROPIC, turn.extra)
    if turn.role != "user":
        return [Message(role=turn.role, parts=tuple(parts), extra=extra)]  # type: ignore[arg-type]
    results = [part for part in parts if isinstance(part, ToolResult)]
    others = tuple(part for part in parts if not isinstance(part, ToolResult))
    messages = [Message(role="tool", parts=(result,)) for result in results]
    if others or extra or not results:
        messages.append(Message(role="user", parts=others, extra=extra))
    return messages


def write(request: Request) -> Written:
    """Write the body for `/v1/messages`. `max_tokens`, which the API requires, is not added.

    A system prompt in the middle is sent as such, which newer models accept after a turn of the user:
    https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
    """
    notes = Notes(ANTHROPIC)
    leading = _leading(request.messages)
    if leading:
        notes.note("Instructions before the first message are sent in the system prompt.")
    instructions = [part for message in request.messages[:leading] for part in _parts_of(message, notes)]
    system = write_blocks([*request.system, *instructions], notes)
    names = {ours: name for name, ours in _NAMES.items()}
    parameters = request.parameters
    body: JsonObject = {
        **({} if request.model is None else {"model": request.model}),
        **({"system": shortened(system)} if system else {}),
        "messages": _write_messages(request.messages[leading:], notes),
        **write_tools(request.tools, notes),
        **own_fields(parameters.extra, notes, {}),
        **write_choice(request.tool_choice, parameters.parallel_tool_calls, notes),
        **write_fields(replace(parameters, parallel_tool_calls=None), names, notes),
        **write_format(request.response_format, notes),
    }
    return Written(body=folded(body, *_CONFIG), dropped=notes.sentences)


def _leading(messages: Sequence[Message]) -> int:
    """Return how many messages that instruct the model come before all others."""
    found = (number for number, each in enumerate(messages) if each.role not in _INSTRUCTING)
    return next(found, len(messages))


def _parts_of(message: Message, notes: Notes) -> tuple[Part, ...]:
    if message.name is not None:
        notes.unknown("A message's author name")
    if message.role == "developer":
        notes.note("Developer messages are sent as system messages.")
    return message.parts


def _write_messages(messages: Sequence[Message], notes: Notes) -> list[JsonObject]:
    turns: list[_Turn] = []
    before = None
    for message in messages:
        role = {"tool": "user", "developer": "system"}.get(message.role, message.role)
        blocks = write_blocks(_parts_of(message, notes), notes)
        if _add(turns, role, blocks, notes.own(message.extra)) and before == message.role != "tool":
            notes.note("Consecutive messages with the same role are sent as one.")
        before = message.role
    return [_write_turn(turn) for turn in turns]


def _write_turn(turn: _Turn) -> JsonObject:
    results = [block for block in turn.blocks if block.get("type") == "tool_result"]
    others = [block for block in turn.blocks if block.get("type") != "tool_result"]
    content = shortened([*results, *others] if turn.role == "user" else turn.blocks)
    return {"role": turn.role, "content": content or "", **turn.extra}
