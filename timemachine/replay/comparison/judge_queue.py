"""The queue of judges: which are to be asked about which cells, one after the other, within the comparison's spend limit.

A row is committed as `asking` before its model is called, and never asked again by itself: a worker that is lost may have had a
call billed, and its row then reads `lost`.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Min, Q

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.usage import estimate_tokens
from timemachine.recording.answering.pure.prompt import Prompt
from timemachine.replay.comparison.judge_calls import MATERIAL, ask, call_cost, prompts_of
from timemachine.replay.comparison.judged_cells import cells_left
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.judging.models import LONGEST_CALL
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.budget import FREE
from timemachine.replay.runs.spend_limit import LimitReached, reserve_beside

QUIET: Final = timedelta(seconds=60)
LOST_AFTER: Final = 2 * LONGEST_CALL


@dataclass(frozen=True, slots=True, kw_only=True)
class ToBeAsked:
    """A model by its resolved name, and about how many cells it is to be asked."""

    model: str
    cells: int


def ask_judge(comparison: Comparison, use_model: str, *, by: str, step: int | None = None) -> ToBeAsked:
    """Note that a model is to be asked about every changed cell (or the one of that step) that it has no opinion on yet.

    The caller enqueues them. Raises as `cells_left` does.
    """
    with transaction.atomic():
        Comparison.objects.select_for_update().get(id=comparison.id)
        model, left = cells_left(comparison, use_model, step)
        CellOpinion.objects.bulk_create(
            CellOpinion(comparison=comparison, step=each, model=str(model), requested_by=by[:254])
            for each in left
        )
    return ToBeAsked(model=str(model), cells=len(left))


def cancel_judges(comparison: Comparison) -> int:
    """Ask no judge that was not asked yet, and end the calls that are made now; how many cells that were.

    A call that is ended may be billed. It is counted so at once, and its worker writes within a second what became of it.
    """
    rows = CellOpinion.objects.filter(comparison=comparison)
    never = rows.filter(state="waiting").update(state="cancelled", finished_at=now())
    ended = rows.filter(state="asking").update(
        state="failed",
        error_type="cancelled",
        error_message="Cancelled while its model was asked; the call may have been billed.",
        calls_made=1,
        unknown_cost_calls=1,
        finished_at=now(),
    )
    return never + ended


def work_off(comparison_id: UUID) -> int:
    """Ask about one waiting cell after the other until none is left; how many. Safe to run twice and at the same time."""
    return sum(1 for _ in _each(comparison_id))


def overdue() -> list[UUID]:
    """The comparisons with cells that wait for a judge and nobody at them; rows whose worker was lost become `lost`."""
    moment = now()
    lost = CellOpinion.objects.filter(state="asking", asked_at__lt=moment - LOST_AFTER)
    lost.update(state="lost", unknown_cost_calls=1, finished_at=moment)
    rows = (
        CellOpinion.objects.order_by()
        .values("comparison_id")
        .annotate(waits_since=Min("created_at", filter=Q(state="waiting")), last=Max("asked_at"))
        .filter(waits_since__lt=moment - QUIET)
    )
    return [row["comparison_id"] for row in rows if row["last"] is None or row["last"] < moment - QUIET]


def _each(comparison_id: UUID) -> Iterator[CellOpinion]:
    while (row := _claimed(comparison_id)) is not None:
        if row.state == "asking":
            ask(row)
        yield row


def _claimed(comparison_id: UUID) -> CellOpinion | None:
    """The next cell that waits: `asking` from now on, or `cancelled` for the spend limit. None where none waits, or it may fit later."""
    with transaction.atomic():
        waiting = CellOpinion.objects.select_for_update(skip_locked=True, of=("self",))
        row = (
            waiting.filter(comparison_id=comparison_id, state="waiting").order_by("created_at", "id").first()
        )
        if row is None:
            return None
        try:
            if not _reserved(row):
                return None
            row.state, row.asked_at = "asking", now()
        except LimitReached as why:
            row.state, row.error_type, row.error_message = "cancelled", "spend_limit", str(why)
            row.finished_at = now()
        row.save()
    return row


def _reserved(row: CellOpinion) -> bool:
    """Whether enough of the comparison's spend limit is left for both calls beside what is under way. Raises `LimitReached`."""
    limit = row.comparison.spend_limit_usd
    if limit is None:
        return True
    return reserve_beside(row.comparison_id, Decimal(str(limit)), row.id, _expected(row), longest=LOST_AFTER)


def _expected(row: CellOpinion) -> Decimal | None:
    provider, _, name = row.model.partition(":")
    model = ModelName(provider=provider, model=name)
    step = ReplayStep.objects.select_related(*MATERIAL).get(id=row.step_id)
    with suppress(InvalidInput):  # then no call is made
        costs = [expected_call(model, prompt) for _, prompt in prompts_of(step)]
        return None if None in costs else sum((each for each in costs if each is not None), FREE)
    return None


def expected_call(model: ModelName, prompt: Prompt) -> Decimal | None:
    """About what one call of a judge costs; None where its price is unknown."""
    return call_cost(model, estimate_tokens(sum(len(message.content) for message in prompt.messages)))
