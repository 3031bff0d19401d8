"""The request of a recorded model call: as it was recorded, or rebuilt, with what is absent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.neutral import Message, Parameters, Request, Text, Thinking, Tool
from timemachine.llm.pure.requests.recorded_requests import read_request
from timemachine.recording.model_calls.pure.conversation import Conversation

RequestVerdict = Literal["verified", "altered", "missing", "reconstructed", "not_recorded"]
"""`verified`: it was recorded, and its bytes have the recorded hash. `reconstructed`: only turns were recorded."""
SYSTEM_PROMPT: Final = "system prompt"
TOOLS: Final = "tool definitions"
_SOME: Final = f"{TOOLS} of "
THINKING: Final = "thinking"
PARAMETERS: Final = "parameters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What else is known of a call: its model, its parameters, the tools that it called, and the steps whose stored
    bytes are not those that were recorded (`altered`) or that were deleted.

    `calls_in_text` is whether its agent writes its calls into its text, so that no tools are defined for it.
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

    `absent` names what was not recorded. `calls_in_text`: its agent writes its calls into its text, so that no tool is
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
    absent = (TOOLS,) if calls and not whole.tools else ()
    verdict: RequestVerdict = "altered" if about.altered else "verified"
    steps = () if whole == request else about.stated_in
    return FrozenRequest(
        request=whole,
        model=about.model,
        verdict=verdict,
        absent=absent,
        calls_in_text=about.calls_in_text and not whole.tools,
        steps=steps,
    )


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


def _parameters(about: Circumstances) -> JsonObject:
    """Return the recorded parameters, with the name that APIs have for what Codex calls `effort`."""
    given = about.parameters or {}
    return {"reasoning_effort": given["effort"], **given} if "effort" in given else given
