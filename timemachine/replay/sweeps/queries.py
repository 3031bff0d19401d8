"""Queries for the sweeps of a project or a session."""

from uuid import UUID

from django.db.models import Count, Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.database import row_of
from timemachine.core.pure.errors import NotFound
from timemachine.recording.sessions.models import Session
from timemachine.replay.sweeps.models import TERMINAL_ROW_STATUSES, Sweep


def sweep_of(project: Project, sweep_id: str | UUID) -> Sweep:
    """Return the project's sweep with that id. Raises `NotFound`, also for another project's."""
    missing = NotFound(f"There is no sweep {str(sweep_id)[:60]!r} in this project.", code="sweep_not_found")
    return row_of(Sweep.objects.filter(project=project).select_related("session"), sweep_id, missing)


def sweeps_in(project: Project) -> QuerySet[Sweep]:
    """Return the project's sweeps with their sessions, newest first, each with how many `settings` it has and how many are `finished`."""
    found = Sweep.objects.filter(project=project).select_related("session").order_by("-id")
    is_finished = Q(rows__status__in=TERMINAL_ROW_STATUSES)
    return found.annotate(settings=Count("rows"), finished=Count("rows", filter=is_finished))


def sweeps_of(session: Session) -> QuerySet[Sweep]:
    """Return the session's sweeps, newest first."""
    return Sweep.objects.filter(session=session).select_related("session").order_by("-id")
