"""Link sessions to their parents, whichever arrives first: a parent named by its key is linked when it arrives."""

from uuid import UUID

from django.db.models import Q

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.branches import ancestors_of
from timemachine.recording.sessions.deletions import all_deleted_before
from timemachine.recording.sessions.locks import lock_names
from timemachine.recording.sessions.models import Session

type Parent = tuple[Session | str | UUID | None, int | None]
"""The session that another one branched from (or its key if it is not here yet, or its id if it was deleted), and the step."""


def resolve_parent(project: Project, named: Session | str | UUID | None) -> tuple[Session | None, str | None]:
    """Return the named session, or the key of one that is not here yet; neither for a deleted one, which is named by id."""
    if not isinstance(named, str):
        return (None if isinstance(named, UUID) else named), None
    found = Session.objects.filter(project=project, key=named).first()
    return found, None if found else named


def link_waiting_branches(begun: Session) -> None:
    """Link sessions that waited for this one to it, except its own ancestors, which keep waiting.

    If a deleted session is imported again, the branches that had lost it are linked to it as well.
    """
    waits = Q(parent_key=begun.key)
    if begun.imported_as is not None:
        waits |= Q(parent_erased__in=all_deleted_before(begun.project, begun.key))
    awaiting = Session.objects.filter(waits, project=begun.project)
    if not awaiting.exists():
        return
    lock_names([f"parents {begun.project_id}"])  # two links made at the same time could form a circle
    awaiting.exclude(id__in=ancestors_of(begun)).update(parent=begun, parent_key=None, parent_erased=None)
