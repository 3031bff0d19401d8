"""What is asked of erasures: those of a session, one by its id, and the fields that are gone from a step."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet

from timemachine.accounts.models import Project
from timemachine.base.errors import NotFound
from timemachine.base.ids import uuid_of
from timemachine.erasure.models import Erasure
from timemachine.evidence.models import ErasedField
from timemachine.recording.models import Session


def erasures_of(session: Session, after: UUID | None = None) -> QuerySet[Erasure]:
    """What was erased of a session, or looked for, newest first; behind one of them."""
    found = Erasure.objects.filter(session=session).select_related("session").order_by("-id")
    return found if after is None else found.filter(id__lt=after)


def erasure_of(project: Project, erasure_id: str | UUID) -> Erasure:
    """The project's erasure of that id. Raises `NotFound`."""
    wanted = uuid_of(str(erasure_id))
    found = (
        Erasure.objects.select_related("session").filter(project=project, id=wanted).first()
        if wanted
        else None
    )
    if found is None:
        raise NotFound(
            f"There is no erasure {str(erasure_id)[:60]!r} in this project.", code="erasure_not_found"
        )
    return found


def erased_of(session: Session, sequences: Sequence[int]) -> dict[int, list[ErasedField]]:
    """The fields that are gone from recorded steps (0: from the session itself), by their sequence. One query."""
    found: dict[int, list[ErasedField]] = {}
    rows = ErasedField.objects.filter(session=session, replay=None, sequence__in=list(sequences))
    for row in rows.order_by("sequence", "id"):
        found.setdefault(row.sequence, []).append(row)
    return found
