"""Queries for the judgements of a step, and for their actual and estimated cost."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from timemachine.core import prepared_statements
from timemachine.core.database import row_of
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.numbers import dollars
from timemachine.llm.prices import price_if_known
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.usage import TokenUsage, estimate_tokens
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.judging.commands import judge_model
from timemachine.replay.judging.material import material_of
from timemachine.replay.judging.models import ASKING, LONGEST_CALL, Judgement
from timemachine.replay.judging.pure.prompt import SYSTEM_PROMPT
from timemachine.replay.judging.schemas import JudgementEstimate

FENCE_CHARACTERS = 40
TOKENS_OF_A_VERDICT = 60
# a lost call counts as one attempt, because the real number is unknown
_SPENT: Final = """
SELECT count(*), COALESCE(sum(cost_usd), 0), COALESCE(sum(COALESCE(calls_made, 1)) FILTER (WHERE cost_usd IS NULL), 0)
FROM tm_judgement WHERE session_id = %(session)s AND NOT (state = %(asking)s AND created_at >= %(lost)s)
"""


def estimate(model: ModelName, *, characters: int, passages: int, sentences: int) -> JudgementEstimate:
    """Return the estimated cost of judging this many sentences by these passages; `characters` includes the question."""
    sent = characters + len(SYSTEM_PROMPT) + FENCE_CHARACTERS * (passages + sentences + 1)
    usage = TokenUsage(input_tokens=estimate_tokens(sent), output_tokens=TOKENS_OF_A_VERDICT * sentences)
    return JudgementEstimate.model_construct(
        model=str(model),
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cost_usd=dollars(price_if_known(model, usage, now()).cost_usd),
        basis=f"four characters per token, {TOKENS_OF_A_VERDICT} answer tokens per sentence, today's prices",
    )


def judgements_of(action: Action) -> QuerySet[Judgement]:
    """Return the judgements of a step, the first one first."""
    return (
        Judgement.objects.filter(action=action).select_related("prompt", "raw").order_by("created_at", "id")
    )


def judgement_of(action: Action, judgement_id: UUID) -> Judgement:
    """Return one of the step's judgements. Raises `NotFound`."""
    missing = NotFound("This step has no such judgement.", code="judgement_not_found")
    return row_of(judgements_of(action), judgement_id, missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a session's finished judgements cost: the known US dollars, and `unknown`, the number of calls of unknown price."""

    judgements: int
    cost_usd: Decimal
    unknown: int


def spent_on(session: Session) -> Spent:
    """Return what was spent on judging a session's answers. The session's own totals do not include it."""
    facts = {"session": session.id, "asking": ASKING, "lost": now() - LONGEST_CALL}
    ((judgements, cost, unknown),) = prepared_statements.fetch_rows(_SPENT, facts)
    return Spent(judgements=judgements, cost_usd=cost, unknown=unknown)


def estimate_of(action: Action, use_model: str) -> JudgementEstimate:
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
