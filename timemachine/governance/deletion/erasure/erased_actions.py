"""Actions as the API returns them, with what was erased from them and the deletion of those that were deleted."""

from collections.abc import Sequence

from timemachine.evidence.models import ErasedField
from timemachine.governance.deletion.erasure.queries import erased_fields_of
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.turn_text import Deleted
from timemachine.recording.timeline.actions import with_significance
from timemachine.recording.timeline.schemas.actions import ActionOut, FieldErased, TurnDeleted


def as_given(session: Session, actions: Sequence[ActionOut]) -> list[ActionOut]:
    """Actions as the API returns them: with the significance in force, the fields that were erased, and by whom and why one was deleted.

    Two queries, three where something was erased.
    """
    erased = erased_fields_of(session, [each.sequence for each in actions])
    deleted = deletions_of(session, erased) if erased else {}
    return [
        _with_erasures(each, erased[each.sequence], deleted.get(each.sequence))
        if each.sequence in erased
        else each
        for each in with_significance(session, actions)
    ]


def _with_erasures(action: ActionOut, fields: Sequence[ErasedField], deleted: Deleted | None) -> ActionOut:
    shown = action.model_copy(update={"erased": [FieldErased.from_attributes(row) for row in fields]})
    return shown if deleted is None else shown.model_copy(update={"deleted": TurnDeleted.of(deleted)})
