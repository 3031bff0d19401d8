"""What followed a model call in its session: results of tools, model calls, and messages of the user."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.recording.model_calls.pure.answered_calls import Followed, UserMessage, UserTurn
from timemachine.recording.model_calls.pure.conversation import (
    RecordedStep,
    SessionThreads,
    content_of,
    is_left,
)
from timemachine.recording.model_calls.pure.values import content_parts


def what_followed(steps: Sequence[RecordedStep], call: int) -> Followed:
    """Return what the tools answered in a session, and which model calls followed one of its calls, whatever compaction
    dropped later.

    `steps` are those of a session from its beginning, in order.
    """
    session = SessionThreads(steps)
    threads = {step.sequence: session.thread_of(step) for step in steps}
    own = threads.get(call)
    for step in steps:
        session.add(step, threads[step.sequence])
    found = (
        replace(each, is_aside=thread is not own) for thread in session.threads for each in thread.answered
    )
    answered = sorted(found, key=lambda each: each.sequence)
    calls = [
        step
        for step in steps
        if step.kind == "llm_call" and step.sequence >= call and threads[step.sequence] is own
    ]
    last = session.answer_of(calls[-1]) if calls else ()
    made = (part for part in last if isinstance(part, ToolCall))
    ids = {each.call.id for each in answered}
    written = [step for step in steps if step.sequence > call and threads[step.sequence] is own]
    return Followed(
        user_turns=tuple(_user_turns(session, calls, [step for step in written if session.is_of_user(step)])),
        answered=tuple(answered),
        calls=tuple(step.sequence for step in calls),
        unanswered=tuple(each for each in made if each.id not in ids),
    )


def _user_turns(
    session: SessionThreads, calls: Sequence[RecordedStep], written: Sequence[RecordedStep]
) -> Iterator[UserTurn]:
    """Yield what the user wrote between each two of these calls."""
    for before, after in pairwise(calls):
        messages = tuple(
            UserMessage(sequence=step.sequence, parts=parts)
            for step in written
            if before.sequence < step.sequence < after.sequence
            and is_left(step) is is_left(after)
            and (parts := content_parts(content_of(step)))
        )
        if messages:
            yield UserTurn(
                after=before.sequence,
                before=after.sequence,
                answer=session.answer_of(before),
                messages=messages,
            )
