"""The cells that a judge model can be asked about, and those that it has not judged yet."""

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
    """Return the cells that can be judged: those with a recorded and a new answer that are not byte-identical."""
    return list(_judged(comparison, step).select_related("action").order_by("id"))


def judged_count(comparison: Comparison) -> int:
    """Return the number of cells that can be judged."""
    return _judged(comparison, None).count()


def remaining_cells(
    comparison: Comparison, use_model: str, step: int | None
) -> tuple[ModelName, list[ReplayStep]]:
    """Return the judge's resolved name, and the cells that it has not judged yet.

    Raises: `InvalidInput` or `Unavailable` for a model that cannot judge, `Conflict` if nothing is left to
    judge, `InvalidInput` for more than `MOST_CELLS` cells.
    """
    steps = judged_cells(comparison, step)
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


def _judged(comparison: Comparison, step: int | None) -> QuerySet[ReplayStep]:
    of_it = ReplayStep.objects.filter(
        replay__run__comparison=comparison, status="done", output__isnull=False, verdict__isnull=False
    ).exclude(verdict__in=NOT_JUDGED)
    return of_it.filter(replay__run__repeat__gt=0) if step is None else of_it.filter(id=step)


def _no_cells_to_judge() -> Conflict:
    return Conflict(
        "This judge has no answers left to judge: every answer is missing, the same as recorded, or already judged by it.",
        code="nothing_to_judge",
    )
