"""Read what tools answered in a session: what a run that another model continues can get from the record."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.requests.differences import equal_calls
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import ToolCall, ToolResult
from timemachine.recording.model_calls.pure.answered_calls import AnsweredCall, Followed
from timemachine.recording.model_calls.pure.conversation import RecordedStep, what_followed
from timemachine.recording.model_calls.pure.requests import Circumstances, FrozenRequest, recorded
from timemachine.recording.model_calls.pure.values import answer_parts
from timemachine.recording.model_calls.queries import MODEL_CALL, MOST_STEPS
from timemachine.recording.model_calls.stored_steps import rows_through, steps_of
from timemachine.recording.sessions.models import Action


def followed_by(call: Action) -> Followed:
    """Return each call of a tool in the session of this model call, with its result, and the model calls from it on.

    Results are in steps of their own, or else in the requests of later model calls. Deleted and altered ones are left
    out.

    Raises:
        InvalidInput: The session is too long.
    """
    length = call.session.last_sequence
    if length > MOST_STEPS:
        raise InvalidInput(
            f"The session has {length:,} steps; results are looked up in at most {MOST_STEPS:,}.",
            code="conversation_too_long",
            steps=length,
            most=MOST_STEPS,
        )
    read = steps_of(rows_through(call.session, length))
    unusable = {*read.altered, *read.deleted}
    steps = [step for step in read.steps if step.sequence not in unusable]
    found = what_followed(steps, call.sequence)
    answered = [*found.answered, *_in_requests(steps, call, found.answered)]
    ids = {each.call.id for each in answered}
    return replace(
        found,
        answered=tuple(sorted(answered, key=lambda each: each.sequence)),
        unanswered=tuple(each for each in found.unanswered if each.id not in ids),
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
