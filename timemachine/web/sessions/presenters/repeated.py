"""Find what a list or a transcript would show twice: recordings of agents have the answer of a model call, and once
more, as steps of their own, the message and the calls of tools in it; an ask and its find have the same question.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, Protocol

from timemachine.core.pure.verdicts import each_once
from timemachine.llm.pure.requests.neutral import Refusal, Text, ToolCall
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.recording.sessions.pure.turn_text import ANSWER, Turn, content_of, message_text
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.text.redaction.pure.marks import DELETED_TURN, OPENING, OPENING_ERASED

SURE: Final = 40
_CUT: Final = "…"
_MARKS: Final = (OPENING, OPENING_ERASED, DELETED_TURN.removesuffix("]"))
_BETWEEN: Final = " · "


class Labelled(Protocol):
    """A row of a list."""

    @property
    def sequence(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def label(self) -> str: ...


class Placed(Protocol):
    """A row and the rows that it is inside of."""

    @property
    def step(self) -> Labelled: ...
    @property
    def above(self) -> tuple[int, ...]: ...


def is_answer_of(place: Placed, call: Placed | None) -> bool:
    """Return whether a row is the message of the model call in the row before, and both begin with the same words."""
    if call is None or call.step.kind != MODEL_CALL or place.step.kind != "message":
        return False
    return place.above[-1:] == (call.step.sequence,) and _same(call.step.label, place.step.label)


def _same(call: str, message: str) -> bool:
    """Return whether the label of a call, with the tools that it called before its text, has the text of the message.

    Two texts of which something is withheld, erased or deleted can differ. If the label is cut, `SURE` characters must be the same.
    """
    if not message or any(each in message for each in _MARKS):
        return False
    text = call.removesuffix(_CUT)
    starts = [0, *(n + len(_BETWEEN) for n in range(len(text)) if text.startswith(_BETWEEN, n))]
    is_cut = text != call
    return any(
        text[n:] == message or (is_cut and len(text) - n >= SURE and message.startswith(text[n:]))
        for n in starts
    )


def answers_in(turns: Sequence[Turn], longest: int) -> dict[int, int]:
    """Return, for each message whose complete text is part of the answer of a model call before it, the step of that
    call. Calls with more than `longest` characters are not shown completely and do not count.
    """
    return {
        turn.sequence: call.sequence
        for call, inside in _calls_in(turns)
        if len(content_of(call)) <= longest
        for turn in inside
        if turn.kind == "message" and _is_part(turn, call)
    }


def questions_in(turns: Sequence[Turn]) -> dict[int, int]:
    """Return, for each find that has nothing but the question of the ask right before it, the step of that ask."""
    return {
        find.sequence: ask.sequence
        for ask, find in pairwise(turns)
        if (ask.kind, find.kind) == ("ask", "find")
        and not (ask.deleted or find.deleted)
        and (find.output, find.error) == (None, (None, None))
        and ask.input is not None
        and ask.input == find.input
    }


def without_question(turn: Turn, before: Turn | None) -> str:
    """Return the text of a turn, of an ask without its question if that is all the text of the turn before it."""
    text = content_of(turn)
    if turn.kind != "ask" or before is None:
        return text
    answer = text.removeprefix(f"{content_of(before)}\n")
    return answer if answer.startswith(ANSWER) else text


def tools_in(turns: Sequence[Turn]) -> dict[int, tuple[str, str]]:
    """Return, for each model call whose calls of tools follow as steps of their own, what it said besides and the names
    of the tools.

    The steps have the same arguments, and the answer has nothing but text and calls.
    """
    found = {}
    for call, inside in _calls_in(turns):
        answer = None if call.deleted else read_answer(call.output)
        if (
            answer
            and answer.calls
            and all(isinstance(each, Text | Refusal | ToolCall) for each in answer.parts)
        ):
            called = [
                (turn.tool, turn.input) for turn in inside if turn.kind == "tool_call" and not turn.deleted
            ]
            if called == [(each.name, each.arguments) for each in answer.calls]:
                found[call.sequence] = (answer.text, each_once(each.name for each in answer.calls))
    return found


def _calls_in(turns: Sequence[Turn]) -> Iterator[tuple[Turn, list[Turn]]]:
    """Yield each model call, with the turns of the agent after it, up to the next call or what a user said."""
    call: Turn | None = None
    inside: list[Turn] = []
    for turn in turns:
        if call is not None and (turn.kind == MODEL_CALL or turn.role == "user"):
            yield call, inside
            call = None
        if turn.kind == MODEL_CALL:
            call, inside = turn, []
        else:
            inside.append(turn)
    if call is not None:
        yield call, inside


def _is_part(message: Turn, call: Turn) -> bool:
    if message.deleted or call.deleted or message.error != (None, None):
        return False
    text = content_of(message).strip()
    return text != "" and f"\n{text}\n" in f"\n{message_text(call.output).strip()}\n"
