"""Change the significance or importance of a step, or restore what was recorded."""

from dataclasses import dataclass
from typing import Final

from django.db import transaction

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, NotFound
from timemachine.recording.annotations.significance.models import (
    Declined,
    SignificanceChange,
    SignificanceOverride,
)
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.validation import check_choice, check_importance
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES
from timemachine.recording.sessions.queries import action_of


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Marks a field that is not to be changed, because None restores what was recorded."""


UNCHANGED: Final = Unchanged()


@transaction.atomic
def change(
    session: Session,
    sequence: int,
    *,
    by: str,
    significance: str | Unchanged | None = UNCHANGED,
    importance: float | Unchanged | None = UNCHANGED,
    rule: str | None = None,
) -> SignificanceOverride | None:
    """Set how significant a step is, without changing the record; None restores what was recorded. The change is logged.

    Setting the current values is not a change. Returns what now differs from the record, or None. Raises `NotFound`
    for an unknown step, and `InvalidInput` for an unknown significance or an importance outside 0 to 1.
    """
    if not isinstance(significance, Unchanged):
        check_choice("significance", significance, SIGNIFICANCES)
    if not isinstance(importance, Unchanged):
        check_importance(importance)
    action = _locked_step(session, sequence)
    override = SignificanceOverride.objects.filter(action=action).first()
    before = (None, None) if override is None else (override.significance, override.importance)
    after = (
        before[0] if isinstance(significance, Unchanged) else significance,
        before[1] if isinstance(importance, Unchanged) else importance,
    )
    if after == before:
        return override
    values = {"significance": after[0], "importance": after[1], "by": by[:254], "at": now()}
    SignificanceChange.objects.create(
        action=action, session_id=action.session_id, sequence=action.sequence, rule=rule, **values
    )
    if after == (None, None):
        SignificanceOverride.objects.filter(action=action).delete()
        return None
    return SignificanceOverride.objects.update_or_create(action=action, defaults=values)[0]


@transaction.atomic
def decline_proposal(session: Session, sequence: int, rule: str, *, by: str) -> None:
    """Record that someone declined a rule's suggestion for a step. Raises `NotFound` for an unknown step."""
    Declined.objects.get_or_create(
        action=_locked_step(session, sequence), rule=rule, defaults={"session": session, "by": by[:254]}
    )


def _locked_step(session: Session, sequence: int) -> Action:
    """Lock a step against changes and erasure. Raises `NotFound`, and `Conflict` if it was deleted."""
    action = action_of(session, sequence)
    if deletions_of(session, [sequence]):
        raise Conflict(f"Step {sequence} of {session.key} was deleted.", code="turn_deleted")
    if Action.objects.select_for_update(no_key=True).filter(id=action.id).first() is None:
        raise NotFound("This session was deleted in the meantime.", code="session_not_found")
    return action
