"""Erasing fields of a session: first scanned, so that someone can review them, then erased for a reason.

A preview does the same as erasing, in a transaction that is rolled back. Both find the steps before they lock
the session, so recording only waits for the rewriting. A killed worker leaves nothing half done; another one
starts again.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from timemachine.core.audit.commands import record
from timemachine.core.leases import Lease, Progress, holding
from timemachine.core.payloads.commands import drop_unreferenced
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, TimeMachineError
from timemachine.core.pure.text_caches import clear_text_caches
from timemachine.evidence.pure.reason import LONGEST, SensitiveReason, checked_reason, sensitive_reason
from timemachine.evidence.sealing import erased_fields
from timemachine.evidence.sealing.session_deletion import reseal_comparisons
from timemachine.governance.deletion.erasure.applying import apply
from timemachine.governance.deletion.erasure.before_after import (
    extend_scan,
    scan_of,
    texts_to_erase,
    touched_steps,
)
from timemachine.governance.deletion.erasure.models import DONE, ERASING, FOUND, LOOKING, UNDER_WAY, Erasure
from timemachine.governance.deletion.erasure.pure.repeats import quotes
from timemachine.governance.deletion.erasure.pure.selection import Chosen, chosen_of
from timemachine.memory.patterns.reader import reread_session
from timemachine.memory.search.indexing import reindex_steps
from timemachine.recording.annotations.significance.models import Declined, SignificanceOverride
from timemachine.recording.sessions import deletions
from timemachine.recording.sessions.counters import count_again
from timemachine.recording.sessions.holds import require_no_hold
from timemachine.recording.sessions.locks import lock_against_sealing
from timemachine.recording.sessions.models import Action, ErasedTurn, Session
from timemachine.recording.sessions.pure.label import label_of_deleted
from timemachine.recording.usage.commands import recount
from timemachine.text.redaction.pure.paths import OF_ACTION
from timemachine.text.redaction.pure.profile import Profile

MOST_IN_A_REQUEST: Final = 500
"""Most steps of a session that is scanned during a request."""
WHAT_IS_ERASED: Final = "erased text"
FINDINGS: Final = ("steps", "of_session", "replay_steps", "elsewhere")
"""What a preview counts."""
TURN_FIELDS: Final = tuple(name for name in OF_ACTION if name != "id")
"""The fields that are erased when a step is deleted."""


def prepare_turn(session: Session, sequence: int, *, by: str) -> Erasure:
    """Prepare deleting a step: its content is erased, while its place stays with its kind, time and usage.

    Its client id stays, too, so that the same step is recognised when it is sent or imported again. Nothing
    is erased until `confirm`. Raises as `prepare`, and `Conflict` if it has already been deleted.
    """
    if deletions.deletions_of(session, [sequence]):
        raise Conflict(f"Step {sequence:,} of this session has already been deleted.", code="turn_deleted")
    return prepare(session, by=by, fields=TURN_FIELDS, steps=[sequence], turn=True)


def first_touched(step: Action) -> int:
    """Return the first step that loses something if this one is deleted: itself, or one with the same text.

    Reads the session up to there. Return 0 without such a step, or if the session is too long for a request.
    """
    if step.session.last_sequence > MOST_IN_A_REQUEST:
        return 0
    chosen = chosen_of(None, TURN_FIELDS, [step.sequence], whole=True)
    return next(touched_steps(step.session, scan_of(step.session, chosen)), 0)


def delete_turn(step: Action, *, reason: str, by: str) -> Erasure:
    """Delete a step with a reason: immediately in a short session, otherwise a worker does it (`erasing`).
    Raises as `prepare_turn` and `confirm`.
    """
    checked = checked_reason(reason)
    if not checked:
        raise _without_reason()
    made = prepare_turn(step.session, step.sequence, by=by)
    if not fits_in_a_request(made):
        with transaction.atomic():
            Erasure.objects.filter(pk=made.pk).update(
                status=ERASING, reason=checked, confirmed_by=by[:254], confirmed_at=now()
            )
            _record(made, by)
        made.refresh_from_db()
        return made
    try:
        done = work(confirm(work(made.id) or made, reason=reason, by=by).id) or made
        if done.status != DONE:
            raise Conflict(done.problem or "The step could not be deleted.", code="session_busy")
    except TimeMachineError:
        Erasure.objects.filter(pk=made.pk).delete()
        raise
    return done


def prepare(
    session: Session,
    *,
    by: str,
    profile: Profile | None = None,
    fields: Sequence[str] = (),
    steps: Sequence[int] = (),
    turn: bool = False,
) -> Erasure:
    """Prepare an erasure; nothing is erased until `confirm`. Raises `InvalidInput`, and `Conflict`
    (`on_hold`) for a session under legal hold.
    """
    require_no_hold(session)
    stored_profile = None if profile is None else profile.as_json()
    chosen_of(stored_profile, fields, steps)
    missing = [each for each in steps if not 1 <= each <= session.last_sequence]
    if missing:
        raise InvalidInput(
            f"The session has no step {missing[0]}; it has steps 1 to {session.last_sequence}.",
            code="step_not_found",
            field="steps",
        )
    return Erasure.objects.create(
        project_id=session.project_id,
        session=session,
        profile=stored_profile,
        fields=list(fields),
        steps=sorted(set(steps)),
        turn=turn,
        requested_by=by[:254],
        enqueued_at=now(),
    )


@transaction.atomic
def confirm(erasure: Erasure, *, reason: str, by: str) -> Erasure:
    """Start erasing, with a reason that the project's log stores.

    Raises `InvalidInput` without a reason, `SensitiveReason` if it contains what is erased or what the
    built-in profile finds (in a long session, the worker checks for erased texts), and `Conflict` if the scan
    has not finished, found nothing, or was confirmed before.
    """
    row = Erasure.objects.select_for_update().get(pk=erasure.pk)
    require_no_hold(row.session)
    chosen = chosen_of(row.profile, row.fields, row.steps, whole=row.turn)
    checked = checked_reason(reason, chosen.rules)
    if not checked:
        raise _without_reason()
    if row.status == LOOKING:
        raise Conflict(
            "The session is still being scanned. Confirm when you have seen the result.",
            code="erasure_looking",
        )
    if row.status != FOUND:
        raise Conflict("This has already been erased, or is being erased.", code="erasure_confirmed")
    if not row.turn and not any((row.preview or {}).get(name) for name in FINDINGS):
        raise Conflict(
            "Nothing in this session matches, so there is nothing to erase.",
            code="nothing_to_erase",
        )
    if fits_in_a_request(row):
        _require_unquoted(row, chosen, checked)
    row.status, row.reason, row.problem = ERASING, checked, None
    row.confirmed_by, row.confirmed_at, row.enqueued_at = by[:254], now(), now()
    row.save(update_fields=["status", "reason", "problem", "confirmed_by", "confirmed_at", "enqueued_at"])
    _record(row, by)
    return row


def _record(erasure: Erasure, by: str) -> None:
    record(
        erasure.project_id, "erasure.confirmed", "session", erasure.session_id, by=by, erasure=str(erasure.pk)
    )


def _without_reason() -> InvalidInput:
    return InvalidInput(
        f"Give a reason of at most {LONGEST:,} characters. It is stored in the project's log, so do not repeat what is erased.",
        code="reason_missing",
        field="reason",
    )


def fits_in_a_request(erasure: Erasure) -> bool:
    """Return whether the session is short enough to be erased during a request."""
    return erasure.session.last_sequence <= MOST_IN_A_REQUEST


def work_if_short(erasure: Erasure) -> Erasure:
    """Do what is next if the session is short. If the erasure is still under way then, the caller enqueues it."""
    return (work(erasure.id) or erasure) if fits_in_a_request(erasure) else erasure


def work(erasure_id: UUID) -> Erasure | None:
    """Scan or erase, whichever is next; None if the session was deleted. Safe to repeat and to kill."""
    progress = Progress()
    with holding(overdue().filter(id=erasure_id), progress=progress, began_at=now()) as lease:
        if lease is not None:
            _do_next(lease, progress)
    return Erasure.objects.select_related("session__project").filter(id=erasure_id).first()


def overdue() -> QuerySet[Erasure]:
    """Return the erasures that wait to be scanned or done."""
    return Erasure.objects.filter(status__in=UNDER_WAY)


def _do_next(lease: Lease[Erasure], progress: Progress) -> None:
    row = lease.row("session__project")
    try:
        _preview(lease, row, progress) if row.status == LOOKING else _erase(lease, row, progress)
    except (Conflict, SensitiveReason) as why:
        lease.release(status=FOUND, problem=why.message, reason=None)


def _preview(lease: Lease[Erasure], row: Erasure, progress: Progress) -> None:
    chosen = chosen_of(row.profile, row.fields, row.steps, whole=row.turn)
    scan = scan_of(row.session, chosen, progress=progress)
    steps = list(touched_steps(row.session, scan))
    with transaction.atomic():
        _allow_erasing()
        session = _locked(row)
        before = erased_fields.observe(session, _with_children(session, steps))
        found = apply(session, scan, steps)
        fields = erased_fields.count_changed(before)
        transaction.set_rollback(True)
    lease.write(status=FOUND, preview=found.as_json() | fields.as_json(), problem=None)


def _require_unquoted(row: Erasure, chosen: Chosen, reason: str, *, after: int = 0) -> None:
    """Raise `SensitiveReason` if the reason contains a text of a selected field, of the steps after one."""
    if quotes(reason, texts_to_erase(row.session, chosen, after=after)):
        raise sensitive_reason(WHAT_IS_ERASED)


def _erase(lease: Lease[Erasure], row: Erasure, progress: Progress) -> None:
    chosen = chosen_of(row.profile, row.fields, row.steps, whole=row.turn)
    _require_unquoted(row, chosen, row.reason or "")
    scan = scan_of(row.session, chosen, progress=progress)
    seen_through = row.session.last_sequence
    steps = list(touched_steps(row.session, scan))
    with transaction.atomic():
        _allow_erasing()
        lock_against_sealing(row.session)
        session = _locked(row)
        row = lease.locked()
        require_no_hold(session)
        if extend_scan(session, scan, after=seen_through):
            steps = list(touched_steps(session, scan))
        else:
            steps = sorted({*steps, *touched_steps(session, scan, after=seen_through)})
        if session.last_sequence > seen_through:
            _require_unquoted(row, chosen, row.reason or "", after=seen_through)
        watched = erased_fields.observe_locked(session, _with_children(session, steps))
        found = apply(session, scan, steps)
        by, reason, at = row.confirmed_by or "", row.reason or "", now()
        turns = row.steps if row.turn else []
        fields = erased_fields.record_erasure(watched, by=by, reason=reason, at=at, turns=turns)
        for sequence in turns:
            _leave_tombstone(session, sequence, by=by, reason=reason, at=at)
        reindex_steps(session, found.recorded.sequences)
        reread_session(session, erased=found.recorded.sequences)
        recount(session.id)
        count_again(session)
        if fields.total or found.elsewhere:
            reseal_comparisons(session, by=by, reason=reason, fields=fields.total)
        _finish_erasing(found.released)
        row.status, row.finished_at, row.problem = DONE, at, None
        row.result = found.as_json() | fields.as_json()
        row.save(update_fields=["status", "finished_at", "problem", "result"])
    clear_text_caches()


def _locked(row: Erasure) -> Session:
    """Return the session, locked without its project, to which the project's log refers."""
    found = Session.objects.select_for_update(of=("self",)).select_related("project")
    return found.get(pk=row.session_id)


def _leave_tombstone(session: Session, sequence: int, *, by: str, reason: str, at: datetime) -> None:
    """Store that the step was deleted, label it in the timeline, and delete its later annotations.

    Nothing depends on the label: a step can be recorded with such a name.
    """
    ErasedTurn.objects.create(session=session, sequence=sequence, erased_at=at, erased_by=by, reason=reason)
    step = session.actions.filter(sequence=sequence)
    step.update(label=label_of_deleted(at))
    SignificanceOverride.objects.filter(action__in=step).delete()
    Declined.objects.filter(action__in=step).delete()


def _allow_erasing() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'fields'")


def _finish_erasing(released: Collection[int]) -> None:
    """Delete those of these payloads that nothing refers to any more, and forbid changes again."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        drop_unreferenced(released)
        cursor.execute("SET LOCAL timemachine.erasing = 'off'")


def _with_children(session: Session, steps: Sequence[int]) -> set[int]:
    """Return the steps and those that name one of them by its id, which may be erased."""
    ids = session.actions.filter(sequence__in=steps, client_id__isnull=False).values("client_id")
    children = session.actions.filter(parent_id_given__in=ids).values_list("sequence", flat=True)
    return {*steps, *children}
