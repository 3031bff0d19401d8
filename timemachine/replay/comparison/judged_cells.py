"""Which cells a judge can be asked about, and which of them it is still to be asked about."""

from typing import Final

from django.db.models import QuerySet

from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.llm.pure.catalogue import ModelName
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.judging.commands import judge_model
from timemachine.replay.runs.models import ReplayStep

MOST_CELLS: Final = 500
NOT_JUDGED: Final = ("identical", "error", "not_recorded")


def judged_cells(comparison: Comparison, step: int | None = None) -> list[ReplayStep]:
    """The cells that a judge can be asked about: an answer beside a recorded one, and not the same bytes."""
    return list(_judged(comparison, step).select_related("action").order_by("id"))


def judged_count(comparison: Comparison) -> int:
    """How many those are."""
    return _judged(comparison, None).count()


def cells_left(
    comparison: Comparison, use_model: str, step: int | None
) -> tuple[ModelName, list[ReplayStep]]:
    """The judge by its resolved name, and the cells that it would be asked about: those that it has no opinion on.

    Raises `InvalidInput`, `Unavailable` for a model that cannot judge, `Conflict` where nothing is left to judge,
    `InvalidInput` for more than `MOST_CELLS` cells.
    """
    steps = judged_cells(comparison, step)
    if not steps:
        raise _nothing()
    model = judge_model(steps[0].action, use_model)
    states = ("waiting", "asking", "done") if step is None else ("waiting", "asking")
    known = CellOpinion.objects.filter(step__in=steps, model=str(model), state__in=states)
    there = set(known.values_list("step_id", flat=True))
    left = [each for each in steps if each.id not in there]
    if not left:
        raise _nothing()
    if len(left) > MOST_CELLS:
        raise InvalidInput(
            f"That would be {len(left):,} cells, and a judge is asked about at most {MOST_CELLS:,} at a time; ask cell by cell.",
            code="too_many_cells",
        )
    return model, left


def _judged(comparison: Comparison, step: int | None) -> QuerySet[ReplayStep]:
    of_it = ReplayStep.objects.filter(
        replay__run__comparison=comparison, status="done", output__isnull=False, verdict__isnull=False
    ).exclude(verdict__in=NOT_JUDGED)
    return of_it.filter(replay__run__repeat__gt=0) if step is None else of_it.filter(id=step)


def _nothing() -> Conflict:
    return Conflict(
        "There is no answer here for this judge: all are the same as recorded, have none, or were judged by it.",
        code="nothing_to_judge",
    )
