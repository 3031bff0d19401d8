"""What changes in how much a step matters: somebody says another significance or importance, or goes back to what was recorded."""

from dataclasses import dataclass
from typing import Final

from django.db import transaction

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.recording.annotations.significance.models import Declined, Weight, WeightChange
from timemachine.recording.sessions.deletions import erased_turns
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES
from timemachine.recording.sessions.queries import action_of


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Stands where a field is not to be changed, since None goes back to what was recorded."""


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
) -> Weight | None:
    """Say how much a step matters, beside the record; None goes back to what was recorded. The change is kept, with who and when.

    What is in force already is no change. The answer is what is in force besides the record, None for nothing. Raises `NotFound` for a
    step that there is not, `InvalidInput` for a significance that is none and an importance that is not from 0 to 1.
    """
    _check(significance, importance)
    action = _held(session, sequence)
    kept = Weight.objects.filter(action=action).first()
    before = (None, None) if kept is None else (kept.significance, kept.importance)
    after = (
        before[0] if isinstance(significance, Unchanged) else significance,
        before[1] if isinstance(importance, Unchanged) else importance,
    )
    if after == before:
        return kept
    return _set(action, after, by=by[:254], rule=rule)


@transaction.atomic
def decline_proposal(session: Session, sequence: int, rule: str, *, by: str) -> None:
    """Keep that somebody said no to what a rule proposes for a step. Raises `NotFound` for a step that there is not."""
    Declined.objects.get_or_create(
        action=_held(session, sequence), rule=rule, defaults={"session": session, "by": by[:254]}
    )


def _held(session: Session, sequence: int) -> Action:
    """The step, which nobody else changes or erases until this is done. Raises `NotFound`, `Conflict` where it was deleted."""
    action = action_of(session, sequence)
    if erased_turns(session, [sequence]):
        raise Conflict(
            f"Step {sequence} of {session.key} was deleted; it matters no more.", code="turn_deleted"
        )
    if Action.objects.select_for_update(no_key=True).filter(id=action.id).first() is None:
        raise NotFound("This session was deleted meanwhile.", code="session_not_found")
    return action


def _set(
    action: Action, after: tuple[str | None, float | None], *, by: str, rule: str | None
) -> Weight | None:
    said = {"significance": after[0], "importance": after[1]}
    at = now()
    WeightChange.objects.create(
        action=action,
        session_id=action.session_id,
        sequence=action.sequence,
        rule=rule,
        by=by,
        at=at,
        **said,
    )
    if after == (None, None):
        Weight.objects.filter(action=action).delete()
        return None
    return Weight.objects.update_or_create(action=action, defaults={**said, "by": by, "at": at})[0]


def _check(significance: str | Unchanged | None, importance: float | Unchanged | None) -> None:
    if isinstance(significance, str) and significance not in SIGNIFICANCES:
        raise InvalidInput(
            f"`significance` cannot be {significance[:80]!r}; it is one of {', '.join(SIGNIFICANCES)}.",
            code="invalid_field",
            field="significance",
        )
    if isinstance(importance, int | float) and not 0 <= importance <= 1:
        raise InvalidInput("`importance` must lie between 0 and 1.", code="invalid_field", field="importance")
