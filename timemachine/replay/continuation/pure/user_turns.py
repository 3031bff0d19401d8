"""When a continued run gets what the user wrote next: where the recording has it, and after what the recorded model did.

The user reacted to what the recorded model had done and said. A recorded message is sent only if the run has done the
same until then: it used every recorded result before the message, no later one, and none that a person supplied. After
an answer without tool calls, that answer must also agree with the recorded one, unless every answer is accepted.
"""

from collections.abc import Sequence
from typing import Final

from timemachine.core.pure.verdicts import verdict_in_words
from timemachine.llm.pure.requests.answers import Answer
from timemachine.recording.model_calls.pure.answered_calls import UserTurn
from timemachine.replay.continuation.pure.answering import Record
from timemachine.replay.runs.pure.actions import action_verdict
from timemachine.replay.runs.pure.options import UserMessages

DEFAULT: Final[UserMessages] = "agreed"
_AGREEING: Final = frozenset({"identical", "formatting", "reworded"})


def next_turn(recorded: Sequence[UserTurn], last_sent: int) -> UserTurn | None:
    """Return the first turn of the user after the last message that was sent; None if the user wrote nothing more."""
    return next((each for each in recorded if each.step > last_sent), None)


def why_not_same(
    turn: UserTurn, record: Record, new: Answer, *, since: int, has_supplied: bool, mode: UserMessages
) -> str | None:
    """Return why the run has not done what was recorded before this turn of the user; None if it has.

    `since` is the step up to which earlier turns of the user were sent, `has_supplied` whether a person supplied anything
    since then.
    """
    if has_supplied:
        return "a person has supplied something that was not recorded"
    if record.has_used_after(turn.before):
        return "the run has used later results"
    if record.remaining_between(since, turn.before):
        return "the run has not made all the recorded tool calls before it"
    if turn.interrupts is not bool(new.calls):
        return "the recorded model was still calling tools"
    if new.calls or mode == "recorded":
        return None
    found = action_verdict(Answer(parts=turn.answer), new)
    words = verdict_in_words(found.name, found.evidence)
    return None if found.name in _AGREEING else f"this answer is not the recorded one ({words})"


def explain(turn: UserTurn, why_not: str) -> str:
    """Return why the run stops before this turn of the user, and what lets it go on."""
    return (
        f"the next message of the user (step {turn.step:,} of the recording) answers what the recorded model said, and {why_not}; to continue, "
        "send it or another one"
    )
