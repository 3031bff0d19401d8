"""The request of a recorded model call: as it was recorded, or rebuilt, with what is absent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import text_at
from timemachine.llm.pure.requests.neutral import Message, Parameters, Part, Request, Text, Thinking, Tool
from timemachine.llm.pure.requests.recorded_requests import read_request
from timemachine.recording.model_calls.pure.conversation import Conversation

RequestVerdict = Literal["verified", "altered", "missing", "reconstructed", "not_recorded"]
"""`verified`: it was recorded, and its bytes have the recorded hash. `reconstructed`: only turns were recorded.
`not_recorded`: it was not, or not its beginning, which the provider stored."""
SYSTEM_PROMPT: Final = "system prompt"
TOOLS: Final = "tool definitions"
_SOME: Final = f"{TOOLS} of "
THINKING: Final = "thinking"
PARAMETERS: Final = "parameters"
STORED: Final = "what the provider stored ({})"
_STORED_FIELDS: Final = ("previous_response_id", "conversation", "prompt")
"""Fields of OpenAI's Responses API that refer to what OpenAI stored, which the request does not repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What else is known of a call: its model, its parameters, the tools that it called, and the steps whose stored
    bytes are not those that were recorded (`altered`) or that were deleted.

    `calls_in_text` is whether its agent writes its tool calls as text, so that no tools are defined for it.
    `stated` has system prompt and tools that were recorded for all calls of an agent, in the steps `stated_in`.
    """

    model: str | None = None
    parameters: JsonObject | None = None
    called: tuple[str, ...] = ()
    calls_in_text: bool = False
    stated: JsonObject | None = None
    stated_in: tuple[int, ...] = ()
    altered: tuple[int, ...] = ()
    deleted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenRequest:
    """A request as it can be sent again to any model; `model` is the one that it was sent to.

    `absent` names what was not recorded. `calls_in_text`: its agent writes its tool calls as text, so that no tool is
    defined. `steps` are those it was rebuilt from, without those of the sessions that this
    one continues, which `inherited` counts. `since` is set if only the latest messages were asked for: those of steps
    before it were not read.
    """

    request: Request
    model: str | None
    verdict: RequestVerdict
    absent: tuple[str, ...] = ()
    calls_in_text: bool = False
    steps: tuple[int, ...] = ()
    inherited: int = 0
    continues: str | None = None
    has_instructions: bool = False
    since: int | None = None

    @property
    def lacks_tools(self) -> bool:
        """Return whether definitions of tools were not recorded, of all or of some."""
        return any(each.startswith(TOOLS) for each in self.absent)

    def with_tools(self, inferred: Sequence[Tool]) -> Request:
        """Return the request with inferred definitions of the tools whose own were not recorded."""
        lacking = {
            name
            for each in self.absent
            if each.startswith(_SOME)
            for name in each.removeprefix(_SOME).split(", ")
        }
        added = [tool for tool in inferred if TOOLS in self.absent or tool.name in lacking]
        return replace(self.request, tools=(*self.request.tools, *added))


def recorded(value: Any, about: Circumstances) -> FrozenRequest | None:
    """Return the request that a call recorded as its input; None if that is not a request."""
    request = read_request(value, _parameters(about))
    if request is None or not request.messages:
        return None
    whole = _with_stated(request, about.stated)
    calls = about.called or any(message.calls for message in request.messages)
    stated = _settings(value, about)
    stored = [name for name in _STORED_FIELDS if _refers(name, stated.get(name))]
    lacking = TOOLS if calls and not whole.tools else None
    absent = tuple(filter(None, (lacking, STORED.format(", ".join(stored)) if stored else None)))
    verdict: RequestVerdict = "altered" if about.altered else "not_recorded" if stored else "verified"
    steps = () if whole == request else about.stated_in
    return FrozenRequest(
        request=whole,
        model=about.model,
        verdict=verdict,
        absent=absent,
        calls_in_text=about.calls_in_text and not whole.tools,
        steps=steps,
        continues=text_at(stated, _STORED_FIELDS[0]) if stored == [_STORED_FIELDS[0]] else None,
        has_instructions=whole.system != request.system
        or bool(stated.get("instructions") or stated.get("system_instructions")),
    )


def response_id(output: Any, *more: Any) -> str | None:
    """Return the id of a recorded response: that of its body, or the `response_id` recorded with it."""
    own = text_at(output, "id") if isinstance(output, dict) else None
    beside = (text_at(each, "response_id") for each in (output, *more) if isinstance(each, dict))
    return own or next(filter(None, beside), None)


def continued(
    own: FrozenRequest, before: FrozenRequest, answer: tuple[Part, ...], step: int
) -> FrozenRequest:
    """Return a request with the conversation that its provider stored: the messages of the request `before` and its answer,
    which were recorded in this step. Its instructions and tools are not part of that.
    """
    said = (Message(role="assistant", parts=answer),) if answer else ()
    messages = (*_turns(before), *said, *_turns(own))
    settings = replace(own.request, system=own.request.system if own.has_instructions else (), messages=())
    verdict: RequestVerdict = "reconstructed" if before.verdict == "verified" else before.verdict
    missing = tuple(each for each in before.absent if not each.startswith(TOOLS))
    return replace(
        own,
        request=_with_messages(settings, messages),
        verdict="altered" if own.verdict == "altered" else verdict,
        absent=(*(each for each in own.absent if each.startswith(TOOLS)), *missing),
        steps=(*before.steps, step, *own.steps),
        continues=None,
    )


def _turns(frozen: FrozenRequest) -> tuple[Message, ...]:
    """Return the messages that the provider stores: a system prompt among them, but no instructions."""
    request = frozen.request
    is_turn = bool(request.system) and not frozen.has_instructions
    return (Message(role="system", parts=request.system), *request.messages) if is_turn else request.messages


def _refers(name: str, value: Any) -> bool:
    """Return whether the value of a field refers to something stored; elsewhere a `prompt` is a text."""
    has_id = isinstance(value, dict) and bool(text_at(value, "id"))
    return has_id or (name != "prompt" and isinstance(value, str) and value != "")


def rebuilt(conversation: Conversation, about: Circumstances) -> FrozenRequest:
    """Return the request that a call must have sent, from the conversation before it. What was not recorded is named."""
    messages = tuple(filter(None, map(_without_unsigned, conversation.messages)))
    own = _with_messages(read_request([], _parameters(about)) or Request(), messages)
    own = _with_stated(own, {"tools": conversation.tools})
    request = _with_stated(own, about.stated)
    in_text = about.calls_in_text and not request.tools
    absent = (
        None if messages == conversation.messages else THINKING,
        None if _has_system_prompt(request) else SYSTEM_PROMPT,
        None if in_text else _undefined(request, about.called),
        None if request.parameters != Parameters() else PARAMETERS,
    )
    steps = conversation.steps if request == own else sorted({*conversation.steps, *about.stated_in})
    return FrozenRequest(
        request=request,
        model=about.model,
        verdict=_verdict(conversation, about),
        absent=tuple(filter(None, absent)),
        calls_in_text=in_text,
        steps=tuple(step for step in steps if step > 0),
        inherited=sum(1 for step in conversation.steps if step <= 0),
    )


def _with_stated(request: Request, stated: JsonObject | None) -> Request:
    """Return the request with the system prompt and the tools that were stated elsewhere, if it has none itself."""
    found = read_request([], stated) or Request()
    system = () if _has_system_prompt(request) else found.system
    return replace(request, system=request.system or system, tools=request.tools or found.tools)


def _has_system_prompt(request: Request) -> bool:
    return bool(request.system) or any(each.role == "system" for each in request.messages)


def _undefined(request: Request, called: tuple[str, ...]) -> str | None:
    """Return what is absent of the definitions of tools: all of them, or those of tools that were called."""
    if not request.tools:
        return TOOLS
    defined = {tool.name for tool in request.tools if isinstance(tool, Tool)}
    made = {call.name for message in request.messages for call in message.calls}.union(called) - defined
    if not made or any(not isinstance(tool, Tool) for tool in request.tools):
        return None
    return f"{_SOME}{', '.join(sorted(made))}"


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


def _with_messages(settings: Request, messages: tuple[Message, ...]) -> Request:
    if not messages:
        return settings
    first = messages[0]
    texts = tuple(part for part in first.parts if isinstance(part, Text))
    if settings.system or first.role not in {"system", "developer"} or len(texts) != len(first.parts):
        return replace(settings, messages=messages)
    return replace(settings, system=texts, messages=messages[1:])


def _settings(value: Any, about: Circumstances) -> JsonObject:
    """Return the fields of the recorded body, and the parameters recorded with it."""
    return {**(value if isinstance(value, dict) else {}), **(about.parameters or {})}


def _parameters(about: Circumstances) -> JsonObject:
    """Return the recorded parameters, with the name that APIs have for what Codex calls `effort`."""
    given = about.parameters or {}
    return {"reasoning_effort": given["effort"], **given} if "effort" in given else given
