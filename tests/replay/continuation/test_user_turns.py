"""When what the user wrote next in the recording fits a continued run. No database."""

import pytest

from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import Part, Text, ToolCall, ToolResult
from timemachine.recording.model_calls.pure.answered_calls import AnsweredCall, UserMessage, UserTurn
from timemachine.replay.continuation.pure.answering import Record
from timemachine.replay.continuation.pure.user_turns import explain, next_turn, why_not_same
from timemachine.replay.runs.pure.options import UserMessages

READ = ToolCall(id="a", name="read", arguments={"path": "a"})
LATER = ToolCall(id="b", name="write", arguments={})
COUNTED = Text("There are 3 files.")


def turn(sequence: int, *answer: Part) -> UserTurn:
    message = UserMessage(sequence=sequence, parts=(Text("And now?"),))
    return UserTurn(after=sequence - 1, before=sequence + 1, answer=answer, messages=(message,))


def record(*used: ToolCall) -> Record:
    """The results of two calls, at steps 2 and 7, of which the run used some."""
    answered = [
        AnsweredCall(
            call=call,
            result=ToolResult(call_id=call.id, parts=()),
            called_in=sequence,
            sequence=sequence,
        )
        for call, sequence in ((READ, 2), (LATER, 7))
    ]
    found = Record(answered, after=1)
    for call in used:
        found.answer(call)
    return found


def why_not(
    new: str | ToolCall,
    *used: ToolCall,
    recorded: Part = COUNTED,
    has_supplied: bool = False,
    mode: UserMessages = "agreed",
) -> str | None:
    answer = Answer(parts=(Text(new) if isinstance(new, str) else new,))
    return why_not_same(
        turn(4, recorded), record(*used), answer, since=1, has_supplied=has_supplied, mode=mode
    )


def test_the_next_turn_is_the_first_that_was_not_sent() -> None:
    turns = [turn(4), turn(9)]
    assert [next_turn(turns, sent) for sent in (0, 4, 9)] == [turns[0], turns[1], None]


@pytest.mark.parametrize("new", ["There are 3 files.", "There  are 3 files."])
def test_after_the_same_answer_the_user_goes_on(new: str) -> None:
    assert why_not(new, READ) is None


def test_after_another_answer_only_if_every_answer_is_accepted() -> None:
    assert why_not("There are 4 files.", READ) == "this answer is not the recorded one (numbers differ)"
    assert why_not("There are 4 files.", READ, mode="recorded") is None


def test_after_tool_calls_the_actions_alone_count() -> None:
    assert why_not(READ, READ, recorded=READ) is None
    assert why_not("There are 3 files.", READ, recorded=READ) == "the recorded model was still calling tools"


@pytest.mark.parametrize(
    ("used", "has_supplied", "why"),
    [
        ((), False, "the run has not made all the recorded tool calls before it"),
        ((READ, LATER), False, "the run has used later results"),
        ((READ,), True, "a person has supplied something that was not recorded"),
    ],
)
def test_a_run_that_did_something_else_does_not_get_it(
    used: tuple[ToolCall, ...], has_supplied: bool, why: str
) -> None:
    assert why_not("There are 3 files.", *used, has_supplied=has_supplied, mode="recorded") == why


def test_the_explanation_names_the_message_and_what_can_be_done() -> None:
    assert explain(turn(1_234), "this answer is not the recorded one (changed)") == (
        "the next message of the user (step 1,234 of the recording) answers what the recorded model said, and this answer is not the recorded "
        "one (changed); to continue, send it or another one"
    )
