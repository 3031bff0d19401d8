"""Read what tools answered in a session: what a run that another model continues can get from the record."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.requests.differences import equal_calls
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import ToolCall, ToolResult
from timemachine.recording.model_calls.pure.answered_calls import (
    AnsweredCall,
    Followed,
    UserMessage,
    UserTurn,
)
from timemachine.recording.model_calls.pure.conversation import RecordedStep
from timemachine.recording.model_calls.pure.followed import what_followed
from timemachine.recording.model_calls.pure.requests import (
    Circumstances,
    FrozenRequest,
    recorded,
    response_id,
)
from timemachine.recording.model_calls.pure.values import answer_parts
from timemachine.recording.model_calls.queries import MODEL_CALL, MOST_STEPS
from timemachine.recording.model_calls.stored_steps import rows_through, steps_of
from timemachine.recording.sessions.models import Action, Session


def followed_by(call: Action) -> Followed:
    """Return each call of a tool in the session of this model call, with its result, the model calls from it on, and what
    the user wrote between these.

    Results and messages are in steps of their own, or else in the requests of later model calls. Deleted and altered ones are left
    out.

    Raises:
        InvalidInput: The session is too long.
    """
    check_length(call.session)
    read = steps_of(rows_through(call.session, call.session.last_sequence))
    unusable = {*read.altered, *read.deleted}
    steps = [step for step in read.steps if step.sequence not in unusable]
    found = what_followed(steps, call.sequence)
    answered = [*found.answered, *_in_requests(steps, call, found.answered)]
    ids = {each.call.id for each in answered}
    return replace(
        found,
        user_turns=_user_turns(
            steps, found, min((each for each in unusable if each > call.sequence), default=None)
        ),
        answered=tuple(sorted(answered, key=lambda each: each.sequence)),
        unanswered=tuple(each for each in found.unanswered if each.id not in ids),
    )


def check_length(session: Session) -> None:
    """Raise `InvalidInput` if the session is too long for `followed_by`."""
    length = session.last_sequence
    if length > MOST_STEPS:
        raise InvalidInput(
            f"The session has {length:,} steps; results can be looked up in at most {MOST_STEPS:,}.",
            code="conversation_too_long",
            steps=length,
            most=MOST_STEPS,
        )


def _user_turns(steps: Sequence[RecordedStep], found: Followed, unusable: int | None) -> tuple[UserTurn, ...]:
    """Return what the user wrote: in steps of their own, or else in the request of the next model call.

    None from the first deleted or altered step on, which the user may have answered.
    """
    recorded_steps = {each.before: each for each in found.user_turns}
    by_number = {step.sequence: step for step in steps}
    turns = []
    for after, before in pairwise(found.calls):
        turn = recorded_steps.get(before) or _user_turn_in(by_number[after], by_number[before])
        if turn is not None and (unusable is None or before < unusable):
            turns.append(turn)
    return tuple(turns)


def _user_turn_in(after: RecordedStep, before: RecordedStep) -> UserTurn | None:
    """Return what the request of a model call has of the user since the last answer; None if it has nothing, or no answer."""
    request = None if before.input is None else recorded(before.input, Circumstances())
    if request is None:
        return None
    messages = request.request.messages
    if request.continues is not None:  # all of them are later than the answer
        last = -1 if request.continues == response_id(after.output) else None
    else:
        last = max((place for place, each in enumerate(messages) if each.role == "assistant"), default=None)
    if last is None:
        return None
    written = tuple(
        UserMessage(sequence=before.sequence, parts=each.parts)
        for each in messages[last + 1 :]
        if each.role == "user" and each.parts
    )
    if not written:
        return None
    return UserTurn(
        after=after.sequence, before=before.sequence, answer=answer_parts(after.output), messages=written
    )


def _in_requests(
    steps: Sequence[RecordedStep], call: Action, found: Sequence[AnsweredCall]
) -> Iterator[AnsweredCall]:
    """Yield the calls whose results were recorded only in the request of a later model call."""
    known = {each.call.id for each in found}
    calls = [step for step in steps if step.kind == MODEL_CALL]
    made = {
        part.id: step.sequence
        for step in calls
        for part in answer_parts(step.output)
        if isinstance(part, ToolCall)
    }
    if made.keys() <= known:
        return
    unnamed = [each.call for each in found if each.call.id not in made]
    for step in calls:
        request = None if step.input is None else recorded(step.input, Circumstances())
        for made_call, result in _pairs(request):
            if made_call.id in known:
                continue
            known.add(made_call.id)
            same = next((each for each in unnamed if _is_same(each, made_call)), None)
            if same is not None:  # its step has the result, but not the id
                unnamed.remove(same)
                continue
            is_aside = step.agent != call.agent
            yield AnsweredCall(
                call=made_call,
                result=result,
                called_in=made.get(made_call.id, step.sequence),
                sequence=step.sequence,
                is_aside=is_aside,
            )


def _pairs(request: FrozenRequest | None) -> Iterator[tuple[ToolCall, ToolResult]]:
    calls: dict[str, ToolCall] = {}
    for message in () if request is None else request.request.messages:
        calls |= {part.id: part for part in message.calls}
        for result in message.results:
            if result.call_id in calls:
                yield calls[result.call_id], result


def _is_same(left: ToolCall, right: ToolCall) -> bool:
    try:
        return equal_calls(left, right)
    except RequestError:
        return False
