"""The branch of a continuation: what it has recorded so far, and the steps of its next turn.

A turn is a model call, the results of its tool calls, and what the user wrote after it. The steps have ids of their own
(`continue-2` is the second call, `continue-2.1` its first tool call, `continue-2.user.9.1` the first message that step 9
of the recording has, `continue-2.user` one that a person wrote), so that another worker goes on where the first one
stopped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from timemachine.core.payloads.queries import value
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.pure.requests import anthropic_messages
from timemachine.llm.pure.requests.neutral import (
    Media,
    Message,
    Other,
    Part,
    Request,
    Text,
    ToolCall,
    ToolResult,
)
from timemachine.llm.pure.requests.protocols import body_of, messages_from
from timemachine.recording.answering.model_asks import Answered
from timemachine.recording.model_calls.pure.answered_calls import AnsweredCall, UserMessage, UserTurn
from timemachine.recording.model_calls.pure.conversation import RecordedStep, sent_parts
from timemachine.recording.model_calls.pure.values import content_parts
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL

PREFIX: Final = "continue-"
SUPPLIED_BY: Final = "supplied_by"
"""Who supplied a result or a message, in the metadata of its step."""
ACCEPTED_BY: Final = "accepted_by"
"""Who let the run get a recorded message, in the metadata of its step."""
USER: Final = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message of the user that the run got. `step` is where the recording has it; None if a person wrote it."""

    parts: tuple[Part, ...]
    step: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A recorded turn: what the model answered, and the results by the id of the call; `copied` are the ids of those that
    came from the record. `number` counts from 1, `sequence` is the step of the model call in the branch. `sent` is what
    the user wrote next."""

    number: int
    sequence: int
    parts: tuple[Part, ...]
    results: Mapping[str, ToolResult]
    copied: frozenset[str]
    sent: tuple[SentMessage, ...] = ()

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls without a result."""
        return tuple(call for call in self.calls if call.id not in self.results)


def turns_of(branch: Session, model: ModelName) -> list[Turn]:
    """Return the turns that the branch has, in order. `model` made the calls."""
    rows = branch.actions.filter(client_id__startswith=PREFIX).select_related("input", "output")
    steps = {row.client_id: row for row in rows.order_by("sequence")}
    calls = [row for row in steps.values() if row.kind == MODEL_CALL]
    return [_turn(number, row, steps, model) for number, row in enumerate(calls, start=1)]


def first_call_of(branch: Session) -> Action | None:
    """Return the first model call of the branch."""
    return branch.actions.filter(client_id=f"{PREFIX}1").select_related("output").first()


def _turn(number: int, row: Action, steps: Mapping[str | None, Action], model: ModelName) -> Turn:
    parts = with_ids(_parts(value(row.output), model), number)
    calls = [part for part in parts if isinstance(part, ToolCall)]
    results: dict[str, ToolResult] = {}
    copied = set()
    for place, call in enumerate(calls, start=1):
        name = _name(number, place)
        given = steps.get(f"{name}.result") or steps.get(name)
        if given is not None:  # perhaps without content, as it was recorded
            results[call.id] = _result(call, given)
            copied |= {call.id} if given.is_copied else set()
    return Turn(
        number=number,
        sequence=row.sequence,
        parts=parts,
        results=results,
        copied=frozenset(copied),
        sent=tuple(_sent(number, steps)),
    )


def _sent(number: int, steps: Mapping[str | None, Action]) -> Iterator[SentMessage]:
    """Yield what the user wrote after that turn."""
    named = f"{PREFIX}{number}.{USER}"
    for name, row in steps.items():
        if name == named or (name or "").startswith(f"{named}."):
            step = (name or "")[len(named) + 1 :].partition(".")[0]
            content = value(row.input if row.output is None else row.output)
            yield SentMessage(parts=content_parts(content), step=int(step) if step else None)


def _parts(output: Any, model: ModelName) -> tuple[Part, ...]:
    """Return the parts of an answer as `send` stored it: a text, or a message of the model's API."""
    if output is None or isinstance(output, str):
        return (Text(output),) if output else ()
    return tuple(part for message in messages_from([output], model) for part in message.parts)


def with_ids(parts: Sequence[Part], number: int) -> tuple[Part, ...]:
    """Return the parts of the answer of a turn with an id of its own for each call, because results are paired by it."""
    used = {""}
    found: list[Part] = []
    for place, part in enumerate(parts, start=1):
        if isinstance(part, ToolCall):
            named = replace(part, id=f"continue_{number}_{place}") if part.id in used else part
            used.add(named.id)
            found.append(named)
        else:
            found.append(part)
    return tuple(found)


def _result(call: ToolCall, given: Action) -> ToolResult:
    step = RecordedStep(
        sequence=given.sequence, kind=given.kind, input=value(given.input), output=value(given.output)
    )
    return ToolResult(
        call_id=call.id,
        parts=tuple(part for part in sent_parts(step) if isinstance(part, Text | Media | Other)),
        is_error=_is_failed(given),
        name=call.name,
        free_text=call.free_text,
    )


def _is_failed(action: Action) -> bool:
    return action.error_type is not None or action.error_message is not None


def next_request(base: Request, turns: Sequence[Turn]) -> Request:
    """Return the request of the next turn: that of the first one, and everything since."""
    return replace(base, messages=(*base.messages, *_messages(turns)))


def _messages(turns: Sequence[Turn]) -> Iterator[Message]:
    for turn in turns:
        yield Message(role="assistant", parts=turn.parts)
        for call in turn.calls:
            yield Message(role="tool", parts=(turn.results[call.id],))
        for each in turn.sent:
            yield Message(role="user", parts=each.parts)


def call_draft(
    number: int,
    answered: Answered,
    request: JsonObject,
    action: Action,
    *,
    started_at: datetime,
    maybe_billed: int,
) -> ActionDraft:
    """Return the step of a model call that was made; `maybe_billed` counts the attempts at it whose worker was lost."""
    return ActionDraft(
        kind=MODEL_CALL,
        id=f"{PREFIX}{number}",
        layer=action.layer,
        role=action.role,
        agent=action.agent,
        name=action.name,
        started_at=started_at,
        duration_ms=answered.duration_ms,
        input=request,
        output=answered.output,
        model=answered.model,
        parameters=answered.parameters,
        usage=answered.usage,
        cost_usd=answered.cost_usd,
        prices=answered.prices,
        metadata={"lost_attempts_maybe_billed": maybe_billed} if maybe_billed else None,
    )


def request_body(
    request: Request, sent: Mapping[str, Any], model: ModelName, connection: Connection
) -> JsonObject:
    """Return the body of a request that was answered. `sent` has the parameters as the model accepted them: it can reject a
    temperature or a seed, and some APIs need a limit."""
    parameters = replace(
        request.parameters,
        temperature=sent.get("temperature"),
        seed=sent.get("seed"),
        max_tokens=sent.get("max_tokens"),
    )
    return body_of(replace(request, model=model.model, parameters=parameters), model, connection)


def copied_drafts(
    session: Session, number: int, place: int, call: ToolCall, found: AnsweredCall
) -> list[ActionDraft]:
    """Return the steps of a tool call that the record answered, like those that it was recorded in."""
    row = session.actions.select_related("input", "output").get(sequence=found.sequence)
    name = _name(number, place)
    if row.kind == "tool_call":
        return [_copy(row, name, f"{PREFIX}{number}", call)]
    if row.kind == "tool_result":
        made = _call_of(row)
        if made is None:
            return [_copy(row, f"{name}.result", f"{PREFIX}{number}", call)]
        return [
            _copy(made, name, f"{PREFIX}{number}", call),
            _copy(row, f"{name}.result", name, call),
        ]
    content = _content(found.result)
    failed = _text(found.result) if found.result.is_error else None
    copied_from = row.copied_from or copy_of(session.key, row.sequence)
    return [
        replace(result_draft(number, place, call, content), copied_from=copied_from, error_message=failed)
    ]


def result_draft(number: int, place: int, call: ToolCall, output: Any) -> ActionDraft:
    """Return the step of a result that no step of the recording has."""
    return ActionDraft(
        kind="tool_result",
        id=f"{_name(number, place)}.result",
        layer="tool",
        role="tool",
        tool=call.name,
        call_id=call.id,
        parent=f"{PREFIX}{number}",
        output=output,
    )


def recorded_messages(
    session: Session, number: int, turn: UserTurn, *, accepted_by: str | None = None
) -> list[ActionDraft]:
    """Return the steps of what the user wrote in the recording after that turn. `accepted_by` is the person who lets the
    run get it, None if the run has done what was recorded."""
    found = session.actions.filter(sequence__in=[each.sequence for each in turn.messages])
    rows = {row.sequence: row for row in found.select_related("input", "output")}
    return [
        replace(
            _recorded_message(f"{PREFIX}{number}.{USER}.{each.sequence}.{place}", rows[each.sequence], each),
            copied_from=rows[each.sequence].copied_from or copy_of(session.key, each.sequence),
            metadata={ACCEPTED_BY: accepted_by} if accepted_by else None,
        )
        for place, each in enumerate(turn.messages, start=1)
    ]


def _recorded_message(name: str, row: Action, message: UserMessage) -> ActionDraft:
    if row.kind != "message":  # it is in the request of a model call
        return _message(name, _written(message.parts))
    return replace(
        _message(name, value(row.input)),
        layer=row.layer,
        agent=row.agent,
        name=row.name,
        output=value(row.output),
    )


def written_message(number: int, text: str, *, by: str) -> ActionDraft:
    """Return the step of a message that a person wrote as the user, after that turn."""
    return replace(_message(f"{PREFIX}{number}.{USER}", text), metadata={SUPPLIED_BY: by})


def _message(name: str, content: Any) -> ActionDraft:
    return ActionDraft(kind="message", id=name, layer="agent", role="user", input=content)


def _written(parts: Sequence[Part]) -> Any:
    """Return the content of a message as it is recorded: a text, or blocks."""
    if all(isinstance(part, Text) for part in parts):
        return "\n\n".join(part.text for part in parts if isinstance(part, Text))
    request = Request(messages=(Message(role="user", parts=tuple(parts)),))
    return anthropic_messages.write(request).body["messages"][0]["content"]


def _name(number: int, place: int) -> str:
    return f"{PREFIX}{number}.{place}"


def _call_of(result: Action) -> Action | None:
    """Return the step of the call that a result belongs to, None if the call has no step of its own."""
    calls = Action.objects.filter(session=result.session, kind="tool_call", sequence__lt=result.sequence)
    for named in (
        {"call_id": result.call_id},
        {"sequence": result.parent_sequence},
        {"client_id": result.parent_id_given},
    ):
        if None not in named.values():
            found = calls.filter(**named).select_related("input", "output").order_by("-sequence").first()
            if found is not None:
                return found
    return None


def _copy(row: Action, name: str, parent: str, call: ToolCall) -> ActionDraft:
    return ActionDraft(
        kind=row.kind,
        id=name,
        layer=row.layer,
        role=row.role,
        agent=row.agent,
        name=row.name,
        tool=row.tool,
        call_id=call.id,
        parent=parent,
        copied_from=row.copied_from or copy_of(row.session.key, row.sequence),
        input=value(row.input),
        output=value(row.output),
        error_type=row.error_type,
        error_message=row.error_message,
    )


def _content(result: ToolResult) -> Any:
    """Return the content of a result as it is recorded: a text, or blocks."""
    if all(isinstance(part, Text) for part in result.parts):
        return _text(result)
    message = Message(role="tool", parts=(result,))
    return anthropic_messages.write(Request(messages=(message,))).body["messages"][0]["content"][0]["content"]


def _text(result: ToolResult) -> str:
    return "".join(part.text for part in result.parts if isinstance(part, Text))
