"""What we ask of judgements: those of a step, with how far they and the recorded grounding agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.knowledge import prepared_statements
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.judging.commands import judge_model
from timemachine.replay.judging.estimate import Estimate, estimate
from timemachine.replay.judging.material import grounded_of, material_of
from timemachine.replay.judging.models import ASKING, LONGEST_CALL, LOST, Judgement
from timemachine.replay.judging.pure.verdicts import CLASSES, agrees, counted_as

# of a call that was lost nobody knows how often it was tried
_SPENT: Final = """
SELECT count(*), COALESCE(sum(cost_usd), 0), COALESCE(sum(COALESCE(calls_made, 1)) FILTER (WHERE cost_usd IS NULL), 0)
FROM tm_judgement WHERE session_id = %(session)s AND NOT (state = %(asking)s AND created_at >= %(lost)s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSentence:
    """One sentence in one judgement, beside the recorded grounding; `verdict` is None where the judge gave none.

    `counted_as` is the class that the verdict counts in (`verdicts.CLASSES`). `agrees` is None where the grounding says nothing
    of the sentence, and where the judge's quote was not found.
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
    """The judgements of a step, the first one first."""
    return (
        Judgement.objects.filter(action=action).select_related("prompt", "raw").order_by("created_at", "id")
    )


def judgement_of(action: Action, judgement_id: UUID) -> Judgement:
    """One of the step's judgements. Raises `NotFound`."""
    found = judgements_of(action).filter(id=judgement_id).first()
    if found is None:
        raise NotFound("This step has no such judgement.", code="judgement_not_found")
    return found


def state_of(judgement: Judgement) -> str:
    """`asking`, `done`, `failed` or `lost`: one that asks for longer than a call can take has lost its process."""
    if judgement.state == ASKING and judgement.created_at < now() - LONGEST_CALL:
        return LOST
    return judgement.state


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a session's judgements that are over cost: US dollars as far as known, beside `unknown`, the calls of unknown price."""

    judgements: int
    cost_usd: Decimal
    unknown: int


def spent_on(session: Session) -> Spent:
    """What was spent on judging a session's answers; it is in no total of the session, which it is no part of."""
    facts = {"session": session.id, "asking": ASKING, "lost": now() - LONGEST_CALL}
    ((judgements, dollars, unknown),) = prepared_statements.rows(_SPENT, facts)
    return Spent(judgements=judgements, cost_usd=dollars, unknown=unknown)


def sentences_of(judgement: Judgement, action: Action) -> list[JudgedSentence]:
    """The sentences in their order, each with its verdict and what the recorded grounding says of it."""
    kept = judgement.sentences
    grounded = grounded_of(action.grounding, [each["text"] for each in kept])
    return [_sentence(each, ours) for each, ours in zip(kept, grounded, strict=True)]


def counts_of(sentences: Sequence[JudgedSentence]) -> dict[str, int]:
    """How many sentences count in each class, and how many of them the grounding sees otherwise (`disagree`)."""
    counted = {name: sum(each.counted_as == name for each in sentences) for name in CLASSES}
    return counted | {"disagree": sum(each.agrees is False for each in sentences)}


def estimate_of(action: Action, use_model: str) -> Estimate:
    """About what it costs to let this model judge the step. Raises what `judge` would."""
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


def _sentence(kept: dict[str, Any], grounded: bool | None) -> JudgedSentence:
    verdict, quote, quote_in = kept.get("verdict"), kept.get("quote"), kept.get("quote_in")
    counted = None if verdict is None else counted_as(verdict, quote, quote_in)
    return JudgedSentence(
        number=kept["number"],
        text=kept["text"],
        verdict=verdict,
        counted_as=counted,
        passage=kept.get("passage"),
        frame=kept.get("frame"),
        quote=quote,
        quote_in=quote_in,
        grounded=grounded,
        agrees=None if counted is None else agrees(counted, grounded),
    )
