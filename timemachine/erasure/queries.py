"""What is asked of erasures: those of a session, one by its id, and the fields that are gone from a step."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet

from timemachine.accounts.models import Project
from timemachine.base.errors import NotFound
from timemachine.base.ids import uuid_of
from timemachine.erasure.models import DONE, Erasure
from timemachine.evidence.models import ErasedField
from timemachine.recording.models import Action, Hit, Session


def erasures_of(session: Session, after: UUID | None = None) -> QuerySet[Erasure]:
    """What was erased of a session, or looked for, newest first; behind one of them."""
    found = Erasure.objects.filter(session=session).select_related("session").order_by("-id")
    return found if after is None else found.filter(id__lt=after)


def done_of(session: Session) -> QuerySet[Erasure]:
    """What was erased of a session, newest first."""
    return erasures_of(session).filter(status=DONE)


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


def erased_of(session: Session | UUID, sequences: Sequence[int]) -> dict[int, list[ErasedField]]:
    """The fields that are gone from recorded steps (0: from the session itself), by their sequence. One query."""
    found: dict[int, list[ErasedField]] = {}
    rows = ErasedField.objects.filter(session=session, replay=None, sequence__in=list(sequences))
    for row in rows.order_by("sequence", "id"):
        found.setdefault(row.sequence, []).append(row)
    return found


def erased_ranks(hits: Sequence[Hit]) -> set[int]:
    """The ranks of recorded passages of which something is gone. One query, none without passages."""
    if not hits:
        return set()
    steps = Action.objects.filter(id__in={hit.action_id for hit in hits})
    rows = ErasedField.objects.filter(
        session__in=steps.values("session"),
        replay=None,
        sequence__in=steps.values("sequence"),
        field__startswith="hit.",
    )
    return {int(field.split(".")[1]) for field in rows.values_list("field", flat=True)}
