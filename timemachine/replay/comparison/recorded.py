"""What is known of the recorded answers of a comparison: the models that gave them, and which of them are known to be bad."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Q, QuerySet

from timemachine.recording.annotations.significance.queries import SIGNIFICANCE
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALLS
from timemachine.replay.comparison.models import CellMark
from timemachine.replay.runs.models import ReplayStep


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswers:
    """The models of the recorded answers, the most frequent first (None: not recorded), and how many answers are `doubted`:
    marked as an error, or rated worse than a new answer by a person."""

    models: Sequence[str | None] = ()
    doubted: int = 0


def recorded_answers(cells: QuerySet[ReplayStep], *, until: datetime | None = None) -> RecordedAnswers:
    """Return what is known of the recorded answers of these cells. Two queries.

    `until` is for share links: only what was recorded, and ratings from before that moment.
    """
    actions = Action.objects.filter(id__in=cells.order_by().values("action_id"), kind__in=MODEL_CALLS)
    models = actions.values("model").annotate(number=Count("id")).order_by("-number", "model")
    rated = _ratings(cells, until).values("step__action_id")
    significance = SIGNIFICANCE if until is None else F("significance")
    doubted = actions.annotate(marked_as=significance).filter(Q(marked_as="error") | Q(id__in=rated))
    return RecordedAnswers(models=[each["model"] for each in models], doubted=doubted.count())


def _ratings(cells: QuerySet[ReplayStep], until: datetime | None) -> QuerySet[CellMark]:
    """Return the ratings in force that say that a new answer is better than the recorded one."""
    marks = CellMark.objects.filter(step__in=cells.order_by().values("id"))
    if until is not None:
        marks = marks.filter(created_at__lte=until)
    latest = marks.order_by("step_id", "marked_by", "-created_at", "-id").distinct("step_id", "marked_by")
    return CellMark.objects.filter(id__in=latest.values("id"), verdict="better")
