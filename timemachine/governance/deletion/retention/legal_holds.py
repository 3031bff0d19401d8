"""Legal holds on named sessions, or on all that match a filter at that moment; released with a reason."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.evidence.log import project_log
from timemachine.evidence.pure.reason import LONGEST, checked_reason
from timemachine.governance.deletion.retention.queries import hold_of, matching_sessions
from timemachine.governance.deletion.retention.session_filter import SessionSelection
from timemachine.recording.sessions.models import HeldSession, Hold, Session

PLACED, RELEASED = "placed", "released"
BATCH = 1_000


def required_reason(checked: str, what: str) -> str:
    """Return the reason as it is stored. Raises `InvalidInput` without one, and `SensitiveReason`."""
    reason = checked_reason(checked)
    if not reason:
        raise InvalidInput(
            f"Give a reason of at most {LONGEST:,} characters: {what}. It is stored in the project's log.",
            code="reason_missing",
            field="reason",
        )
    return reason


@transaction.atomic
def place(
    project: Project,
    *,
    reason: str,
    by: str,
    sessions: Sequence[Session] = (),
    which: SessionSelection | None = None,
) -> Hold:
    """Place a hold on these sessions, or on all that match now. Nothing in these sessions can be deleted or erased.

    Raises `InvalidInput` without a reason, or if no session matches.
    """
    checked = required_reason(reason, "why the sessions must be kept")
    chosen = Session.objects.filter(pk__in=[each.pk for each in sessions], project=project)
    if which is not None:
        chosen = Session.objects.filter(pk__in=matching_sessions(project, which).order_by().values("pk"))
    ids = list(chosen.order_by("id").select_for_update(no_key=True).values_list("id", flat=True))
    if not ids:
        raise InvalidInput("No session matches, so there is nothing to hold.", code="nothing_chosen")
    made = Hold.objects.create(
        project=project, wanted=which and which.given, reason=checked, placed_by=by[:254], placed_at=now()
    )
    HeldSession.objects.bulk_create(
        (HeldSession(hold=made, session_id=each) for each in ids), batch_size=BATCH
    )
    _note(made, PLACED, by=by, reason=checked, ids=ids)
    return hold_of(project, made.id)


@transaction.atomic
def release(hold: Hold, *, reason: str, by: str, sessions: Sequence[Session] = ()) -> Hold:
    """Release a hold, or only these of its sessions. It ends when none remains.

    Raises `InvalidInput` without a reason, `Conflict` if it was released before.
    """
    checked = required_reason(reason, "why the hold is no longer needed")
    locked = Hold.objects.select_for_update().get(pk=hold.pk)
    open_ = HeldSession.objects.filter(hold=locked, released_at=None)
    if sessions:
        open_ = open_.filter(session__in=[each.pk for each in sessions])
    ids = list(open_.order_by("id").values_list("session", flat=True))
    if not ids:
        raise Conflict(
            "This hold was already released or does not cover any of these sessions.", code="hold_released"
        )
    moment = now()
    open_.update(released_at=moment)
    if not HeldSession.objects.filter(hold=locked, released_at=None).exists():
        locked.released_at, locked.released_by, locked.release_reason = moment, by[:254], checked
        locked.save(update_fields=["released_at", "released_by", "release_reason"])
    _note(locked, RELEASED, by=by, reason=checked, ids=ids)
    return hold_of(locked.project, locked.pk)


def _note(hold: Hold, what: str, *, by: str, reason: str, ids: Sequence[UUID]) -> None:
    entry = {
        "entry": project_log.HOLD,
        "id": str(hold.id),
        "what": what,
        "by": by,
        "reason": reason,
    }
    parts = [ids[begin : begin + BATCH] for begin in range(0, len(ids), BATCH)]
    project_log.append(hold.project, [{**entry, "sessions": [str(each) for each in part]} for part in parts])
    record(
        hold.project,
        "hold.placed" if what == PLACED else "hold.released",
        "hold",
        hold.id,
        by=by,
        sessions=len(ids),
    )
