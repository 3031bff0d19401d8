"""The conversation before each model call of a session, rebuilt from the steps before it.

Many sources record messages and tool calls, but not the requests. Each request had the conversation so far, so that
can be rebuilt: what a person wrote, each answer with its tool calls, and each result right after the answer with
its call, where every API wants it. A compaction replaces everything before it.

A sub-agent has a conversation of its own: the steps inside the call that started it, or with the tag `sidechain` by the
same agent. Turns that were left for others (tags `rewound`, `branch`, `other_branch`) are in the conversations of
only the calls that were left too.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from timemachine.llm.pure.requests.neutral import (
    Media,
    Message,
    Other,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from timemachine.recording.model_calls.pure.answered_calls import AnsweredCall
from timemachine.recording.model_calls.pure.values import answer_parts, content_parts, messages_of
from timemachine.recording.sessions.pure.vocabulary import COMPACTION, IN_TEXT, SENT, SETTINGS

LEFT: Final = frozenset({"rewound", "branch", "other_branch"})
"""The tags of turns that were left for others."""
SIDECHAIN: Final = "sidechain"
"""The tag of the steps of a sub-agent."""
THINKING: Final = "thinking"
BEGINNINGS: Final = frozenset({"session_meta"})
"""Events that begin a session and state what its requests have: those of Codex."""
_PROMPTS: Final = ("system_prompt", "base_instructions", "instructions")
_TOOLS: Final = ("tools", "dynamic_tools")
_ROLES: Final[Mapping[str | None, Role]] = {"agent": "assistant", "system": "system"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """What a conversation needs of a recorded step. `parent` is the sequence of the step that it is inside.

    `is_internal`: a message between tools and the system that the model did not see.
    """

    sequence: int
    kind: str
    role: str | None = None
    agent: str | None = None
    name: str | None = None
    tool: str | None = None
    call_id: str | None = None
    parent: int | None = None
    tags: Collection[str] = ()
    input: Any = None
    output: Any = None
    failed: bool = False
    is_internal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The messages before a call, and the sequences of the steps that they were recorded in.

    `tools` are the definitions that were stated for the whole conversation, as they were recorded. `compacted`: a
    compaction replaced what was before.
    """

    messages: tuple[Message, ...]
    steps: tuple[int, ...]
    tools: Any = None
    compacted: bool = False


@dataclass(slots=True, kw_only=True)
class _Turn:
    """A message, the steps that it comes from, and the results of its calls."""

    role: Role
    parts: tuple[Part, ...]
    steps: list[int]
    left: bool
    results: "list[_Turn]" = field(default_factory=list)

    def message(self) -> Message:
        return Message(role=self.role, parts=self.parts)


@dataclass(slots=True, kw_only=True)
class _Thread:
    """One conversation so far: its turns, and the turn and step of each call by the call's id. `is_inside`: in a call, by the
    agent that was started with it. `prompt` and `tools` were stated for all of it, in the steps `stated_in`."""

    is_inside: bool
    turns: list[_Turn] = field(default_factory=list)
    calls: dict[str, _Turn] = field(default_factory=dict)
    called_in: dict[str, int] = field(default_factory=dict)
    prompt: _Turn | None = None
    tools: Any = None
    stated_in: set[int] = field(default_factory=set)
    compacted: bool = False
    answered: list[AnsweredCall] = field(default_factory=list)


def conversations(
    steps: Sequence[RecordedStep], calls: Collection[int], outer: Collection[int] = ()
) -> Iterator[tuple[int, Conversation]]:
    """Yield the sequence of each of these model calls with the conversation before it, in order.

    `steps` are those of a session from its beginning or from a later step on, in order. What is in those in `outer` is
    not part of it; they show which steps are inside which.
    """
    session = SessionThreads(steps)
    for step in steps:
        thread = session.thread_of(step)
        if step.kind == "llm_call" and step.sequence in calls:
            yield step.sequence, _snapshot(thread, left=is_left(step))
        if step.sequence not in outer:
            session.add(step, thread)


def answers(steps: Sequence[RecordedStep], calls: Collection[int]) -> Mapping[int, tuple[Part, ...]]:
    """Return the parts of the answer of each of these model calls: those of its output, and those of the messages and
    tool calls inside it that its output does not have.
    """
    session = SessionThreads(steps)
    return {step.sequence: session.answer_of(step) for step in steps if step.sequence in calls}


def _snapshot(thread: _Thread, *, left: bool) -> Conversation:
    turns = [turn for turn in thread.turns if left or not turn.left]
    if thread.prompt is not None:
        turns.insert(0, thread.prompt)
    every = [each for turn in turns for each in (turn, *turn.results)]
    return Conversation(
        messages=tuple(turn.message() for turn in every),
        steps=tuple(sorted(thread.stated_in.union(step for turn in every for step in turn.steps))),
        tools=thread.tools,
        compacted=thread.compacted,
    )


class SessionThreads:
    """The threads of a session while its steps are read in order."""

    def __init__(self, steps: Sequence[RecordedStep]) -> None:
        self._steps = {step.sequence: step for step in steps}
        self._calls_in = self._calls_inside_answers(steps)
        self._threads: dict[int | str | None, _Thread] = {}
        self._owners: dict[int, int | None] = {}

    @property
    def threads(self) -> Iterator[_Thread]:
        """Yield the conversations so far."""
        return iter(self._threads.values())

    def _calls_inside_answers(
        self, steps: Sequence[RecordedStep]
    ) -> Mapping[int | None, Sequence[RecordedStep]]:
        found: dict[int | None, list[RecordedStep]] = {}
        for step in steps:
            if self._is_in_answer(step) and _is_spoken(step):
                found.setdefault(step.parent, []).append(step)
        return found

    def parent_of(self, step: RecordedStep) -> RecordedStep | None:
        """Return the step that a step is inside, None if it is in none that was recorded."""
        return None if step.parent is None else self._steps.get(step.parent)

    def _is_in_answer(self, step: RecordedStep) -> bool:
        parent = self.parent_of(step)
        return parent is not None and parent.kind == "llm_call"

    def thread_of(self, step: RecordedStep) -> _Thread:
        """Return the conversation that a step is part of: that inside the innermost call that it is in, or the session's."""
        owner: int | str | None = self._owner_of(step)
        if owner is None and SIDECHAIN in step.tags:
            owner = step.agent or SIDECHAIN
        return self._threads.setdefault(owner, _Thread(is_inside=owner is not None))

    def _owner_of(self, step: RecordedStep) -> int | None:
        passed: list[int] = []
        current = step
        owner: int | None = None
        while current.sequence not in self._owners:
            passed.append(current.sequence)
            parent = self.parent_of(current)
            if parent is None or parent.sequence in passed:
                break
            if parent.kind == "tool_call" and not _is_result_of(current, parent):
                owner = parent.sequence
                break
            current = parent
        else:
            owner = self._owners[current.sequence]
        self._owners |= dict.fromkeys(passed, owner)
        return owner

    def is_of_user(self, step: RecordedStep) -> bool:
        """Return whether a step is a message that the user wrote to the model."""
        if step.kind != "message" or step.is_internal or step.name == THINKING or self._is_in_answer(step):
            return False
        return _ROLES.get(step.role, "user") == "user" and {COMPACTION, SETTINGS}.isdisjoint(step.tags)

    def add(self, step: RecordedStep, thread: _Thread) -> None:
        """Add what a step contributes to its conversation."""
        if COMPACTION in step.tags:
            thread.turns = [turn for turn in thread.turns if turn.role == "system"]
            thread.calls.clear()
            thread.compacted = True
        if SETTINGS in step.tags or (step.kind == "event" and step.name in BEGINNINGS):
            _state(step, thread)
        elif step.kind == "llm_call":
            self._add_answer(step, thread)
        elif step.kind == "tool_result":
            _add_result(step, self.parent_of(step), thread)
        elif step.kind == "event":
            for message in _of_compaction(step):
                _say(thread, message.role, message.parts, step)
        elif not self._is_in_answer(step):
            _add_own(step, thread)

    def _add_answer(self, step: RecordedStep, thread: _Thread) -> None:
        parts = () if step.failed else self.answer_of(step)
        if not parts:
            return
        turn = _append(thread, "assistant", parts, step)
        for part in parts:
            if isinstance(part, ToolCall):
                thread.calls[part.id], thread.called_in[part.id] = turn, step.sequence
        for child in self._calls_in.get(step.sequence, ()):
            thread.called_in[_id_of(child)] = child.sequence
        turn.steps += [child.sequence for child in self._calls_in.get(step.sequence, ())]

    def answer_of(self, step: RecordedStep) -> tuple[Part, ...]:
        """Return the parts of the answer of a model call."""
        parts = answer_parts(step.output)
        children = self._calls_in.get(step.sequence, ())
        if not parts:
            return tuple(part for child in children for part in _spoken(child))
        known = {part.id for part in parts if isinstance(part, ToolCall)}
        made = [child for child in children if child.kind == "tool_call"]
        missing = made if not known else [child for child in made if (child.call_id or "") not in known]
        return parts + tuple(_call(child) for child in missing)


def _of_compaction(event: RecordedStep) -> tuple[Message, ...]:
    """Return what replaces the conversation if the event does: Codex writes a list of items, or a summary."""
    if COMPACTION not in event.tags:
        return ()
    about = event.output if isinstance(event.output, Mapping) else {}
    replacement = messages_of(about.get("replacement_history", event.output))
    return replacement or (Message(role="user", parts=content_parts(about.get("message"))),)


def _state(step: RecordedStep, thread: _Thread) -> None:
    """Take over the system prompt and the tools that a step states for every request after it."""
    stated = step.input if step.kind == "message" else step.output
    about = stated if isinstance(stated, Mapping) else {}
    named = next((about[name] for name in _PROMPTS if about.get(name)), None)
    if isinstance(named, Mapping):
        named = named.get("text")
    prompt = content_parts(step.output if step.kind == "message" else named)
    tools = next((about[name] for name in _TOOLS if about.get(name)), None)
    if prompt:
        thread.prompt = _Turn(role="system", parts=prompt, steps=[step.sequence], left=False)
    if tools is not None:
        thread.tools = tools
        thread.stated_in.add(step.sequence)


def is_left(step: RecordedStep) -> bool:
    return not LEFT.isdisjoint(step.tags)


def _is_result_of(step: RecordedStep, call: RecordedStep) -> bool:
    return step.kind == "tool_result" and (step.call_id is None or step.call_id == call.call_id)


def _is_spoken(step: RecordedStep) -> bool:
    if step.kind == "tool_call":
        return IN_TEXT not in step.tags
    return step.kind == "message" and step.name != THINKING


def _spoken(step: RecordedStep) -> tuple[Part, ...]:
    return (_call(step),) if step.kind == "tool_call" else content_parts(content_of(step))


def content_of(step: RecordedStep) -> Any:
    return step.input if step.output is None else step.output


def _call(step: RecordedStep) -> ToolCall:
    return ToolCall(id=_id_of(step), name=step.tool or step.name or "", arguments=step.input)


def _id_of(call: RecordedStep) -> str:
    """Return the id of a call; one that was recorded without an id is named after its step."""
    return call.call_id or f"step_{call.sequence}"


def _add_own(step: RecordedStep, thread: _Thread) -> None:
    """Add a step that is part of the conversation on its own, not inside an answer."""
    if step.kind == "message":
        if not step.is_internal and step.name != THINKING:
            _say(thread, _speaker(step, thread), content_parts(content_of(step)), step)
    elif step.kind == "ask":
        _say(thread, "user", content_parts(step.input), step)
        if not step.failed:
            _say(thread, "assistant", content_parts(step.output), step)
    elif step.kind == "tool_call" and IN_TEXT not in step.tags:
        call = _call(step)
        thread.calls[call.id] = _append(thread, "assistant", (call,), step)
        thread.called_in[call.id] = step.sequence
        if step.output is not None or step.failed:
            _answer_call(thread, call.id, step)


def _speaker(step: RecordedStep, thread: _Thread) -> Role:
    """Return who speaks to the model: to a sub-agent, the agent that started it speaks as its user."""
    return "user" if thread.is_inside and step.role == "agent" else _ROLES.get(step.role, "user")


def _add_result(step: RecordedStep, call: RecordedStep | None, thread: _Thread) -> None:
    """Add a result to the turn with its call; one whose call was not recorded is in no request."""
    if call is not None and IN_TEXT in call.tags:
        _say(thread, "user", sent_parts(step), step)
        return
    known = _id_of(call) if call is not None and _is_result_of(step, call) else step.call_id
    if known is not None and known in thread.calls:
        _answer_call(thread, known, step)


def sent_parts(result: RecordedStep) -> tuple[Part, ...]:
    """Return what the model was given of a result."""
    sent = result.input.get(SENT) if isinstance(result.input, Mapping) else None
    return content_parts(result.output if sent is None else sent)


def _answer_call(thread: _Thread, call_id: str, step: RecordedStep) -> None:
    turn = thread.calls[call_id]
    result = ToolResult(
        call_id=call_id,
        parts=tuple(part for part in sent_parts(step) if isinstance(part, Text | Media | Other)),
        is_error=step.failed,
        name=step.tool,
    )
    given = [part for each in turn.results for part in each.parts if isinstance(part, ToolResult)]
    if any(part.call_id == call_id for part in given):
        return
    turn.results.append(_Turn(role="tool", parts=(result,), steps=[step.sequence], left=is_left(step)))
    call = next(part for part in turn.parts if isinstance(part, ToolCall) and part.id == call_id)
    thread.answered.append(
        AnsweredCall(call=call, result=result, called_in=thread.called_in[call_id], sequence=step.sequence)
    )


def _say(thread: _Thread, role: Role, parts: tuple[Part, ...], step: RecordedStep) -> None:
    if parts:
        _append(thread, role, parts, step)


def _append(thread: _Thread, role: Role, parts: tuple[Part, ...], step: RecordedStep) -> _Turn:
    """Add parts to the last turn if that is the agent's too and has no results yet, else as a turn of their own."""
    left = is_left(step)
    last = thread.turns[-1] if thread.turns else None
    if last is not None and role == last.role == "assistant" and not last.results and last.left == left:
        last.parts += parts
        last.steps.append(step.sequence)
        return last
    turn = _Turn(role=role, parts=parts, steps=[step.sequence], left=left)
    thread.turns.append(turn)
    return turn
