"""Judgements of recorded answers as the API takes and returns them."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, Self

from timemachine.core.payloads.queries import value
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.llm.schemas import CallUsageOut, FailureOut
from timemachine.recording.sessions.models import Action
from timemachine.replay.judging.material import grounded_of
from timemachine.replay.judging.models import Judgement
from timemachine.replay.judging.pure.replies import (
    CONTRADICTED,
    NOT_FOUND,
    QUOTE_NOT_FOUND,
    SUPPORTED,
    StoredSentence,
    agrees,
    counted_as,
)


class JudgementIn(Strict):
    """The judge model, as `provider:model`."""

    model: str


class JudgedSentenceOut(Schema):
    """One sentence in one judgement, next to the recorded grounding; `verdict` is null if the judge model gave none.

    `agrees` is null if the grounding says nothing about the sentence, or the quote was not found.
    """

    number: int
    text: str
    verdict: str | None
    counted_as: str | None
    passage: int | None
    frame: int | str | None
    quote: str | None
    quote_in: int | None
    grounded: bool | None
    agrees: bool | None

    @classmethod
    def of(cls, stored: StoredSentence, grounded: bool | None) -> "JudgedSentenceOut":
        """Return the sentence of a judgement, with the verdict of the recorded grounding."""
        verdict, quote, quote_in = stored.get("verdict"), stored.get("quote"), stored.get("quote_in")
        counted = None if verdict is None else counted_as(verdict, quote, quote_in)
        return cls.model_construct(
            number=stored["number"],
            text=stored["text"],
            verdict=verdict,
            counted_as=counted,
            passage=stored.get("passage"),
            frame=stored.get("frame"),
            quote=quote,
            quote_in=quote_in,
            grounded=grounded,
            agrees=None if counted is None else agrees(counted, grounded),
        )


class JudgementVerdicts(Schema):
    """How many sentences have which verdict, and in how many the grounding disagrees."""

    supported: int
    contradicted: int
    not_found: int
    quote_not_found: int
    disagree: int

    @classmethod
    def of(cls, sentences: Sequence[JudgedSentenceOut]) -> "JudgementVerdicts":
        """Return how many of the sentences count in each class, and on how many the grounding disagrees."""
        counted = Counter(each.counted_as for each in sentences)
        return cls.model_construct(
            supported=counted[SUPPORTED],
            contradicted=counted[CONTRADICTED],
            not_found=counted[NOT_FOUND],
            quote_not_found=counted[QUOTE_NOT_FOUND],
            disagree=sum(each.agrees is False for each in sentences),
        )


class JudgementOut(Schema):
    """What a judge model says about the sentences of a recorded answer. Money is US dollars."""

    id: str
    session: str
    sequence: int
    model: str
    state: Literal["asking", "done", "failed", "lost"]
    verdicts: JudgementVerdicts
    sentences: list[JudgedSentenceOut]
    prompt_template: str
    prompt_sha256: str
    answer_sha256: str
    raw_answer: Any
    parameters: JsonObject | None
    usage: CallUsageOut | None
    cost_usd: float | None
    prices: JsonObject | None
    calls_made: int | None
    duration_ms: float | None
    error: FailureOut | None
    created_by: str
    created_at: str
    finished_at: str | None
    cancel_wanted: bool

    @classmethod
    def of(cls, judgement: Judgement, action: Action, **more: Any) -> Self:
        sentences = sentences_of(judgement, action)
        return cls.from_attributes(
            judgement,
            session=judgement.session_id,
            state=judgement.state_now,
            verdicts=JudgementVerdicts.of(sentences),
            sentences=sentences,
            raw_answer=value(judgement.raw),
            error=FailureOut.of(judgement) if judgement.error_type is not None else None,
            cancel_wanted=judgement.cancel_wanted_at is not None,
            **more,
        )


class JudgementPage(Page[JudgementOut]):
    """The judgements of a step, the first one first."""


class JudgeMessage(Schema):
    """A message that was sent to a judge model."""

    role: str
    content: str


class JudgementDetail(JudgementOut):
    """A judgement with the messages that were sent."""

    system_prompt: str
    prompt: list[JudgeMessage]

    @classmethod
    def of(cls, judgement: Judgement, action: Action, **more: Any) -> Self:
        sent = value(judgement.prompt)
        prompt = [JudgeMessage.model_construct(role=role, content=content) for role, content in sent]
        return super().of(judgement, action, prompt=prompt, **more)


class JudgementEstimate(Schema):
    """About what a judgement would cost, and what that rests on; `cost_usd` is null if the price is unknown."""

    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    basis: str


def sentences_of(judgement: Judgement, action: Action) -> list[JudgedSentenceOut]:
    """Return the sentences in order, each with its verdict and the recorded grounding."""
    stored: list[StoredSentence] = judgement.sentences
    grounded = grounded_of(action.grounding, [each["text"] for each in stored])
    return [JudgedSentenceOut.of(each, ours) for each, ours in zip(stored, grounded, strict=True)]
