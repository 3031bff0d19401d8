"""Judgements of recorded answers as the API takes and returns them."""

from dataclasses import asdict
from typing import Any, Literal

from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.llm.schemas import CallUsageOut, FailureOut
from timemachine.recording.sessions.models import Action
from timemachine.replay.judging.models import Judgement
from timemachine.replay.judging.queries import (
    TOKENS_OF_A_VERDICT,
    Estimate,
    counts_of,
    sentences_of,
    state_of,
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


class JudgementVerdicts(Schema):
    """How many sentences have which verdict, and in how many the grounding disagrees."""

    supported: int
    contradicted: int
    not_found: int
    quote_not_found: int
    disagree: int


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
    parameters: dict[str, Any] | None
    usage: CallUsageOut | None
    cost_usd: float | None
    prices: dict[str, Any] | None
    calls_made: int | None
    duration_ms: float | None
    error: FailureOut | None
    created_by: str
    created_at: str
    finished_at: str | None
    cancel_wanted: bool

    @classmethod
    def of(cls, judgement: Judgement, action: Action) -> "JudgementOut":
        """The judgement of the action."""
        return cls.model_construct(**_judgement(judgement, action))


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
    def of(cls, judgement: Judgement, action: Action) -> "JudgementDetail":
        """The judgement of the action."""
        sent = value(judgement.prompt)
        return cls.model_construct(
            **_judgement(judgement, action),
            system_prompt=judgement.system_prompt,
            prompt=[JudgeMessage.model_construct(role=role, content=content) for role, content in sent],
        )


class JudgementEstimate(Schema):
    """About what a judgement would cost, and what that rests on; `cost_usd` is null if the price is unknown."""

    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    basis: str

    @classmethod
    def of(cls, found: Estimate) -> "JudgementEstimate":
        """The estimate."""
        return cls.model_construct(
            model=found.model,
            input_tokens=found.input_tokens,
            output_tokens=found.output_tokens,
            cost_usd=dollars(found.cost_usd),
            basis=f"four characters to a token, {TOKENS_OF_A_VERDICT} tokens of answer to a sentence, today's prices",
        )


def _judgement(judgement: Judgement, action: Action) -> dict[str, Any]:
    sentences = sentences_of(judgement, action)
    counts: dict[str, Any] = counts_of(sentences)
    failed = FailureOut.model_construct(type=judgement.error_type, message=judgement.error_message)
    return {
        "id": str(judgement.id),
        "session": str(judgement.session_id),
        "sequence": judgement.sequence,
        "model": judgement.model,
        "state": state_of(judgement),
        "verdicts": JudgementVerdicts.model_construct(**counts),
        "sentences": [JudgedSentenceOut.model_construct(**asdict(each)) for each in sentences],
        "prompt_template": judgement.prompt_template,
        "prompt_sha256": judgement.prompt_sha256,
        "answer_sha256": judgement.answer_sha256,
        "raw_answer": value(judgement.raw),
        "parameters": judgement.parameters,
        "usage": judgement.usage,
        "cost_usd": dollars(judgement.cost_usd),
        "prices": judgement.prices,
        "calls_made": judgement.calls_made,
        "duration_ms": judgement.duration_ms,
        "error": failed if judgement.error_type is not None else None,
        "created_by": judgement.created_by,
        "created_at": written(judgement.created_at),
        "finished_at": written(judgement.finished_at),
        "cancel_wanted": judgement.cancel_wanted_at is not None,
    }
