"""When the models of a project last answered a recorded or replayed ask: a health check that costs nothing."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Max, Model, QuerySet

from timemachine.core.row_security import rows_of_every_project
from timemachine.llm.offers import LastAnswer
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.queries import HAPPENED_HERE
from timemachine.replay.runs.models import ReplayStep

RECENT: Final = 5_000
"""How many of the newest rows are read, of all projects together, so that the page stays fast."""


def last_answers(project_id: UUID) -> dict[str, LastAnswer]:
    """Return by provider the model that answered last, and when, as far as the newest rows show. Local models are always available."""
    found: dict[str, LastAnswer] = {}
    for model, at in sorted(_answers(project_id), key=lambda each: each[1]):
        found[model.partition(":")[0]] = LastAnswer(model=model, at=at)
    return found


def _answers(project_id: UUID) -> Iterator[tuple[str, datetime]]:
    asks = _newest(Action.objects.all()).filter(
        HAPPENED_HERE,
        session__project_id=project_id,
        kind="ask",
        model__isnull=False,
        error_type=None,
        error_message=None,
        parameters__has_key="call_ms",
    )
    steps = _newest(ReplayStep.objects.all()).filter(
        replay__project_id=project_id,
        status="done",
        model__isnull=False,
        error_type=None,
        output__isnull=False,
    )
    live = asks.exclude(cached=True)
    yield from live.order_by().values_list("model").annotate(last=Max("recorded_at"))
    yield from steps.order_by().values_list("model").annotate(last=Max("finished_at"))


def _newest[Row: Model](rows: QuerySet[Row]) -> QuerySet[Row]:
    with rows_of_every_project():  # by the primary key alone
        newest = rows.order_by("-pk").values_list("pk", flat=True).first() or 0
    return rows.filter(pk__gt=newest - RECENT)
