"""The turns of a transcript as a page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from timemachine.memory.transcripts.transcript import SelectedTurn
from timemachine.recording.sessions.pure.turn_text import Turn, content_of, content_with, who_of
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.web.payloads.pure.shapes import Reading, reading
from timemachine.web.sessions.presenters.repeated import answers_in, questions_in, tools_in, without_question
from timemachine.web.sessions.presenters.steps import PROSE


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLine:
    """A turn on a page, and how many were left out before it. A deleted one shows its tombstone instead of text.

    `answer_of` is the model call that shows the same text, `question_of` the ask. `tools` are those that a model called, where the calls
    follow.
    """

    turn: Turn
    who: str
    text: str
    cut: bool
    left_out: int
    is_result: bool = False
    answer_of: int | None = None
    question_of: int | None = None
    tools: str = ""

    @property
    def read(self) -> Reading:
        """Return what the text is."""
        is_prose = self.turn.kind in PROSE or self.turn.kind == MODEL_CALL
        return reading("text/plain", self.text, cut=self.cut, reads="prose" if is_prose else "plain")


def turn_line(
    turn: Turn, left_out: int, longest: int, *, cut: bool = False, is_result: bool = False
) -> TurnLine:
    """Return a turn with at most `longest` characters of its text; `is_result` marks a search result."""
    return _line(turn, left_out, content_of(turn), longest, cut=cut, is_result=is_result)


def turn_lines(selected: Sequence[SelectedTurn], longest: int) -> list[TurnLine]:
    """Return turns that follow each other, each with at most `longest` characters of its text, and each text once."""
    turns = [each.turn for each in selected]
    answers, questions, tools = answers_in(turns, longest), questions_in(turns), tools_in(turns)
    lines = []
    for each, before in zip(selected, (None, *turns), strict=False):
        turn = each.turn
        said, called = tools.get(turn.sequence, ("", ""))
        text = content_with(turn, said) if called else without_question(turn, before)
        line = _line(turn, each.left_out, text, longest, tools=called)
        lines.append(
            replace(line, answer_of=answers.get(turn.sequence), question_of=questions.get(turn.sequence))
        )
    return lines


def _line(turn: Turn, left_out: int, text: str, longest: int, *, cut: bool = False, **facts: Any) -> TurnLine:
    return TurnLine(
        turn=turn,
        who=who_of(turn),
        text=text[:longest],
        cut=cut or len(text) > longest,
        left_out=left_out,
        **facts,
    )
