"""The queue of judge calls: cells are judged one after the other, within the comparison's spend limit.

A row is committed as `asking` before its model is called, and it is never retried automatically: the worker
may have been lost after a billed call. Such a row is shown as `lost`.
"""

from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.llm.pure.catalogue import ModelName
from timemachine.replay.comparison.judge_calls import MATERIAL, ask, call_cost, prompts_of
from timemachine.replay.comparison.judge_schemas import JudgeQueued
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.judging.commands import judge_model
from timemachine.replay.judging.models import LONGEST_CALL
from timemachine.replay.runs.estimate import tokens_of
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.budget import FREE
from timemachine.replay.runs.spend_limit import LimitReached, reserve_extra_call

QUIET: Final = timedelta(seconds=60)
LOST_AFTER: Final = 2 * LONGEST_CALL
MOST_CELLS: Final = 500
NOT_JUDGED: Final = ("identical", "formatting", "error", "not_recorded")


def judged_cells(comparison: Comparison, step: int | None = None) -> QuerySet[ReplayStep]:
    """Return the cells that can be judged: those with a recorded and a new answer whose words differ."""
    of_it = ReplayStep.objects.filter(
        replay__run__comparison=comparison, status="done", output__isnull=False, verdict__isnull=False
    ).exclude(verdict__in=NOT_JUDGED)
    found = of_it.filter(replay__run__repeat__gt=0) if step is None else of_it.filter(id=step)
    return found.select_related("action").order_by("id")


def remaining_cells(
    comparison: Comparison, use_model: str, step: int | None
) -> tuple[ModelName, list[ReplayStep]]:
    """Return the judge's resolved name, and the cells that it has not judged yet.

    Raises: `InvalidInput` or `Unavailable` for a model that cannot judge, `Conflict` if nothing is left to
    judge, `InvalidInput` for more than `MOST_CELLS` cells.
    """
    steps = list(judged_cells(comparison, step))
    if not steps:
        raise _no_cells_to_judge()
    model = judge_model(steps[0].action, use_model)
    states = ("waiting", "asking", "done") if step is None else ("waiting", "asking")
    known = CellOpinion.objects.filter(step__in=steps, model=str(model), state__in=states)
    there = set(known.values_list("step_id", flat=True))
    remaining = [each for each in steps if each.id not in there]
    if not remaining:
        raise _no_cells_to_judge()
    if len(remaining) > MOST_CELLS:
        raise InvalidInput(
            f"That would be {len(remaining):,} cells, but a judge can be asked about at most {MOST_CELLS:,} at a time. Ask cell by cell.",
            code="too_many_cells",
        )
    return model, remaining


def ask_judge(comparison: Comparison, use_model: str, *, by: str, step: int | None = None) -> JudgeQueued:
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
    return JudgeQueued.model_construct(model=str(model), cells=len(left))


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
    cells = 0
    while (row := _claimed(comparison_id)) is not None:
        if row.state == "asking":
            ask(row)
        cells += 1
    return cells


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


def _no_cells_to_judge() -> Conflict:
    return Conflict(
        "This judge has no answers left to judge: every answer is missing, the same as recorded, or already judged by it.",
        code="nothing_to_judge",
    )


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
        costs = [call_cost(model, tokens_of(prompt)) for _, prompt in prompts_of(step)]
        return None if None in costs else sum((each for each in costs if each is not None), FREE)
    return None
