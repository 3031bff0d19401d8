"""Grounding as the API takes and returns it, and as it is stored with a step."""

from typing import Literal

from pydantic import Field

from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.schemas import Page, Schema, Strict

Label = Literal["HIGH", "MEDIUM", "LOW"]
Reason = Literal["number", "name", "negation", "no_support"]


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
    reason: Reason | None
    passage_start: int | None
    passage_end: int | None
    swapped: bool
    partly: bool
    missing: list[str]

    @property
    def against(self) -> bool:
        """Whether a passage contradicts it, and not only none supports it."""
        return self.grounded is False and (self.reason != "no_support" or self.frame is not None)


class GroundingOut(Schema):
    """How far an answer is supported by its context, sentence by sentence."""

    score: float | None
    label: Label | None
    sentence_count: int
    grounded_sentences: int
    has_warning: bool
    method: str
    unread_characters: UnreadOut
    sentences: list[SentenceOut]


class GroundingPage(Page[GroundingOut]):
    """The grounding of several answers, in their order."""
