"""Which session another goes on from, where either of them may come first: what is named by a key is tied to it when it comes."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Q

from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.branches import all_above
from timemachine.recording.sessions.deletions import all_deleted_before
from timemachine.recording.sessions.models import Session

type Parent = tuple[Session | str | UUID | None, int | None]
"""Which session another goes on from, the key of one that is not here yet, or the id of one that was deleted, and from which step."""
_HOLD: Final = "SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(%s::text[]) AS name"


def hold_keys(project: Project, *keys: str | None) -> None:
    """Nobody else begins a session of these keys, or one that waits for them, until the transaction ends: each sees the other."""
    hold(f"session {project.id} {key}" for key in keys if key is not None)


def found_or_awaited(
    project: Project, named: Session | str | UUID | None
) -> tuple[Session | None, str | None]:
    """The session that is named, or the key of one that is not here yet; neither of one that was deleted, which its id names."""
    if not isinstance(named, str):
        return (None if isinstance(named, UUID) else named), None
    found = Session.objects.filter(project=project, key=named).first()
    return found, None if found else named


def tie_awaiting(begun: Session) -> None:
    """Tie the sessions that waited for this one to it, but for those that it goes on from itself: they go on waiting.

    An import of a session that was deleted brings that session again, so those that it was deleted from under are tied to it as well.
    """
    waits = Q(parent_key=begun.key)
    if begun.imported_as is not None:
        waits |= Q(parent_erased__in=all_deleted_before(begun.project, begun.key))
    awaiting = Session.objects.filter(waits, project=begun.project)
    if not awaiting.exists():
        return
    hold([f"parents {begun.project_id}"])  # two that are tied at once could close a circle together
    awaiting.exclude(id__in=all_above(begun)).update(parent=begun, parent_key=None, parent_erased=None)


def hold(names: Iterable[str]) -> None:
    """Nobody else holds one of these names until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [sorted(set(names))])
