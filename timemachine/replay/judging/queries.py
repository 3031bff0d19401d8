"""Queries for the judgements of a step, their agreement with the recorded grounding, and their estimated cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.knowledge import prepared_statements
from timemachine.llm.prices import price_if_known
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.completion import TokenUsage
from timemachine.llm.pure.usage import estimate_tokens
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.judging.commands import judge_model
from timemachine.replay.judging.material import grounded_of, material_of
from timemachine.replay.judging.models import ASKING, LONGEST_CALL, LOST, Judgement
from timemachine.replay.judging.pure.prompt import SYSTEM_PROMPT
from timemachine.replay.judging.pure.verdicts import CLASSES, agrees, counted_as

FENCE_CHARACTERS = 40
TOKENS_OF_A_VERDICT = 60
# a lost call counts as one attempt, because the real number is unknown
_SPENT: Final = """
SELECT count(*), COALESCE(sum(cost_usd), 0), COALESCE(sum(COALESCE(calls_made, 1)) FILTER (WHERE cost_usd IS NULL), 0)
FROM tm_judgement WHERE session_id = %(session)s AND NOT (state = %(asking)s AND created_at >= %(lost)s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimated tokens and cost in US dollars; `cost_usd` is None if the model's price is unknown."""

    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal | None


def estimate(model: ModelName, *, characters: int, passages: int, sentences: int) -> Estimate:
    """Return the estimated cost of judging this many sentences by these passages; `characters` includes the question."""
    sent = characters + len(SYSTEM_PROMPT) + FENCE_CHARACTERS * (passages + sentences + 1)
    usage = TokenUsage(input_tokens=estimate_tokens(sent), output_tokens=TOKENS_OF_A_VERDICT * sentences)
    return Estimate(
        model=str(model),
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cost_usd=price_if_known(model, usage, now()).cost_usd,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSentence:
    """One sentence of a judgement, next to the recorded grounding; `verdict` is None if the judge gave none.

    `counted_as` is the class in which the verdict counts (`verdicts.CLASSES`). `agrees` is None if the
    grounding says nothing about the sentence, or if the judge's quote was not found.
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


def judgements_of(action: Action) -> QuerySet[Judgement]:
    """Return the judgements of a step, the first one first."""
    return (
        Judgement.objects.filter(action=action).select_related("prompt", "raw").order_by("created_at", "id")
    )


def judgement_of(action: Action, judgement_id: UUID) -> Judgement:
    """Return one of the step's judgements. Raises `NotFound`."""
    found = judgements_of(action).filter(id=judgement_id).first()
    if found is None:
        raise NotFound("This step has no such judgement.", code="judgement_not_found")
    return found


def state_of(judgement: Judgement) -> str:
    """Return `asking`, `done`, `failed`, or `lost` for a row that is `asking` for longer than a call can take."""
    if judgement.state == ASKING and judgement.created_at < now() - LONGEST_CALL:
        return LOST
    return judgement.state


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a session's finished judgements cost: the known US dollars, and `unknown`, the number of calls of unknown price."""

    judgements: int
    cost_usd: Decimal
    unknown: int


def spent_on(session: Session) -> Spent:
    """Return what was spent on judging a session's answers. The session's own totals do not include it."""
    facts = {"session": session.id, "asking": ASKING, "lost": now() - LONGEST_CALL}
    ((judgements, dollars, unknown),) = prepared_statements.fetch_rows(_SPENT, facts)
    return Spent(judgements=judgements, cost_usd=dollars, unknown=unknown)


def sentences_of(judgement: Judgement, action: Action) -> list[JudgedSentence]:
    """Return the sentences in order, each with its verdict and the recorded grounding."""
    stored = judgement.sentences
    grounded = grounded_of(action.grounding, [each["text"] for each in stored])
    return [_sentence(each, ours) for each, ours in zip(stored, grounded, strict=True)]


def counts_of(sentences: Sequence[JudgedSentence]) -> dict[str, int]:
    """Return how many sentences count in each class, and on how many of them the grounding disagrees (`disagree`)."""
    counted = {name: sum(each.counted_as == name for each in sentences) for name in CLASSES}
    return counted | {"disagree": sum(each.agrees is False for each in sentences)}


def estimate_of(action: Action, use_model: str) -> Estimate:
    """Return the estimated cost of judging the step with this model. Raises what `judge` raises."""
    model, material = judge_model(action, use_model), material_of(action)
    texts = [
        material.question,
        *material.sentences,
        *(f"{each.title}{each.text}" for each in material.passages),
    ]
    return estimate(
        model,
        characters=sum(map(len, texts)),
        passages=len(material.passages),
        sentences=len(material.sentences),
    )


def _sentence(stored: dict[str, Any], grounded: bool | None) -> JudgedSentence:
    verdict, quote, quote_in = stored.get("verdict"), stored.get("quote"), stored.get("quote_in")
    counted = None if verdict is None else counted_as(verdict, quote, quote_in)
    return JudgedSentence(
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
