"""Grounding as the API takes and returns it, and as it is stored with a step."""

from typing import Literal

from pydantic import Field

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.text.pure.grounding.support import METHOD, Grounding, Support


class AnswerIn(Strict):
    """An answer and the passages that should support it."""

    answer: str
    context: list[str] = Field(max_length=1_000)


class GroundIn(Strict):
    """An answer and the passages that should support it, or several in `items`."""

    answer: str | None = None
    context: list[str] | None = Field(default=None, max_length=1_000)
    items: list[AnswerIn] | None = Field(default=None, min_length=1, max_length=200)

    def answers(self) -> list[AnswerIn]:
        """Return all answers to ground.

        Raises:
            InvalidInput: It is neither one answer nor several.
        """
        if self.items is not None and self.answer is None and self.context is None:
            return self.items
        if self.items is None and self.answer is not None and self.context is not None:
            return [AnswerIn(answer=self.answer, context=self.context)]
        raise InvalidInput("Send either `answer` and `context`, or `items`.", code="invalid_request")


class UnreadOut(Schema):
    """Characters of the answer and of the passages beyond the limits, which were not read."""

    answer: int
    passages: int


class SentenceOut(Schema):
    """A sentence of an answer: how far a passage supports it, and where in that passage.

    `grounded` and `score` are null if it makes no claim. `reason` is why it is not grounded; `missing` are words that
    no passage has.
    """

    text: str
    start: int
    end: int
    score: float | None
    grounded: bool | None
    frame: int | str | None
    reason: Literal["no_support", "number", "name", "negation"] | None
    passage_start: int | None
    passage_end: int | None
    swapped: bool
    partly: bool
    missing: list[str]

    @classmethod
    def of(cls, sentence: Support) -> "SentenceOut":
        """Return the sentence as the API returns it."""
        return cls.model_construct(
            text=sentence.text,
            start=sentence.start,
            end=sentence.end,
            score=sentence.score,
            grounded=sentence.grounded,
            frame=sentence.frame,
            reason=sentence.reason,
            passage_start=sentence.passage_start,
            passage_end=sentence.passage_end,
            swapped=sentence.swapped,
            partly=sentence.partly,
            missing=list(sentence.missing),
        )


class GroundingOut(Schema):
    """How far an answer is supported by its context, sentence by sentence."""

    score: float | None
    label: Literal["HIGH", "MEDIUM", "LOW"] | None
    sentence_count: int
    grounded_sentences: int
    has_warning: bool
    method: str
    unread_characters: UnreadOut
    sentences: list[SentenceOut]

    @classmethod
    def of(cls, found: Grounding) -> "GroundingOut":
        """Return the grounding as the API returns it."""
        return cls.model_construct(
            score=found.score,
            label=found.label,
            sentence_count=found.sentence_count,
            grounded_sentences=found.grounded_sentences,
            has_warning=found.has_warning,
            method=METHOD,
            unread_characters=UnreadOut.model_construct(
                answer=found.answer_unread, passages=found.passages_unread
            ),
            sentences=[SentenceOut.of(each) for each in found.sentences],
        )


class GroundingPage(Page[GroundingOut]):
    """The grounding of several answers, in their order."""
