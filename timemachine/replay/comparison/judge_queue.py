"""The queue of judge calls: cells are judged one after the other, within the comparison's spend limit.

A row is committed as `asking` before its model is called, and it is never retried automatically: the worker
may have been lost after a billed call. Such a row is shown as `lost`.
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
from timemachine.replay.comparison.judged_cells import remaining_cells
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.judging.models import LONGEST_CALL
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.budget import FREE
from timemachine.replay.runs.spend_limit import LimitReached, reserve_extra_call

QUIET: Final = timedelta(seconds=60)
LOST_AFTER: Final = 2 * LONGEST_CALL


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """A model by its resolved name, and the number of cells that it will be asked about."""

    model: str
    cells: int


def ask_judge(comparison: Comparison, use_model: str, *, by: str, step: int | None = None) -> JudgeRequest:
    """Queue a model for every changed cell (or the cell of that step) that it has not judged yet.

    The caller enqueues the job. Raises what `remaining_cells` raises.
    """
    with transaction.atomic():
        Comparison.objects.select_for_update().get(id=comparison.id)
        model, left = remaining_cells(comparison, use_model, step)
        CellOpinion.objects.bulk_create(
            CellOpinion(comparison=comparison, step=each, model=str(model), requested_by=by[:254])
            for each in left
        )
    return JudgeRequest(model=str(model), cells=len(left))


def cancel_judges(comparison: Comparison) -> int:
    """Cancel the waiting judge calls and end the running ones. Return the number of cells.

    A call that is ended may be billed. It counts as such immediately; within a second its worker stores the
    outcome.
    """
    rows = CellOpinion.objects.filter(comparison=comparison)
    never = rows.filter(state="waiting").update(state="cancelled", finished_at=now())
    ended = rows.filter(state="asking").update(
        state="failed",
        error_type="cancelled",
        error_message="Cancelled during the call, which may have been billed.",
        calls_made=1,
        unknown_cost_calls=1,
        finished_at=now(),
    )
    return never + ended


def judge_waiting(comparison_id: UUID) -> int:
    """Judge the waiting cells one after the other until none is left, and return how many. Safe to run twice and at the same time."""
    return sum(1 for _ in _each(comparison_id))


def overdue() -> list[UUID]:
    """Return the comparisons with waiting cells that no worker is judging, and mark rows whose worker was lost as `lost`."""
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
    """Return the next waiting cell as `asking`, or `cancelled` because of the spend limit; None if none waits or it may fit later."""
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
    """Return whether the spend limit has enough left for both calls next to the running ones. Raises `LimitReached`."""
    limit = row.comparison.spend_limit_usd
    if limit is None:
        return True
    return reserve_extra_call(
        row.comparison_id, Decimal(str(limit)), row.id, _expected(row), longest=LOST_AFTER
    )


def _expected(row: CellOpinion) -> Decimal | None:
    provider, _, name = row.model.partition(":")
    model = ModelName(provider=provider, model=name)
    step = ReplayStep.objects.select_related(*MATERIAL).get(id=row.step_id)
    with suppress(InvalidInput):  # no call is made then
        costs = [expected_call(model, prompt) for _, prompt in prompts_of(step)]
        return None if None in costs else sum((each for each in costs if each is not None), FREE)
    return None


def expected_call(model: ModelName, prompt: Prompt) -> Decimal | None:
    """Return the estimated cost of one judge call; None if the price is unknown."""
    return call_cost(model, estimate_tokens(sum(len(message.content) for message in prompt.messages)))
