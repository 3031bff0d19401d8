"""Erasing fields of a session: looked for first, so that somebody can see what would go; erased once a reason is given.

Looking does the same as erasing, in a transaction that is undone. Both find the steps before they take the session's lock, so
that recording waits for what is rewritten only. Whoever is killed leaves nothing half done: another begins anew.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from timemachine.core.leases import Lease, holding
from timemachine.core.payloads.commands import drop_unreferenced
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, TimeMachineError
from timemachine.core.pure.text_caches import clear_text_caches
from timemachine.evidence.pure.reason import LONGEST, ReasonTells, checked_reason, tells
from timemachine.evidence.sealing import erased_fields
from timemachine.evidence.sealing.session_deletion import seal_anew
from timemachine.governance.deletion.erasure.applying import apply
from timemachine.governance.deletion.erasure.before_after import (
    erased_texts,
    look_at,
    look_further,
    touched,
    touching,
)
from timemachine.governance.deletion.erasure.models import DONE, ERASING, FOUND, LOOKING, Erasure
from timemachine.governance.deletion.erasure.pure.quoting import quotes
from timemachine.governance.deletion.erasure.pure.selection import Chosen, chosen_of
from timemachine.memory.patterns.reader import read_anew
from timemachine.memory.search.indexing import index_anew
from timemachine.recording.annotations.significance.models import Declined, Weight
from timemachine.recording.sessions import deletions
from timemachine.recording.sessions.holds import require_free
from timemachine.recording.sessions.locks import keep_from_sealing
from timemachine.recording.sessions.models import Action, ErasedTurn, Session
from timemachine.recording.usage.commands import recount
from timemachine.text.redaction.pure.marks import DELETED_TURN
from timemachine.text.redaction.pure.paths import OF_ACTION
from timemachine.text.redaction.pure.profile import Profile

AT_ONCE: Final = 500
"""Steps of a session that is looked through while somebody waits."""
WHAT_IS_ERASED: Final = "a text that is erased"
TURN_FIELDS: Final = tuple(name for name in OF_ACTION if name != "id")
"""What goes with a step that is deleted."""


def prepare_turn(session: Session, sequence: int, *, by: str) -> Erasure:
    """Say that a step shall be deleted: all that it says goes, and its place stays with what kind it was, when, and what it used.

    Its client's id stays, too, so that the same step sent or imported again is known. Nothing goes until `confirm`. Raises as `prepare`,
    and `Conflict` where it was deleted before.
    """
    if deletions.erased_turns(session, [sequence]):
        raise Conflict(f"Step {sequence:,} of this session was deleted before.", code="turn_deleted")
    return prepare(session, by=by, fields=TURN_FIELDS, steps=[sequence], turn=True)


def first_touched(step: Action) -> int:
    """The first step that loses something if this one is deleted: itself, or one before it that says the same.

    Reads the session as far as that; 0, for any step, where none loses anything or the session is too long for somebody who waits.
    """
    if step.session.last_sequence > AT_ONCE:
        return 0
    chosen = chosen_of(None, TURN_FIELDS, [step.sequence], whole=True)
    return next(touching(step.session, look_at(step.session, chosen)), 0)


def delete_turn(step: Action, *, reason: str, by: str) -> Erasure:
    """Delete a step for a reason: at once in a short session, else it waits for a worker (`erasing`). Raises as `prepare_turn` and `confirm`."""
    said = checked_reason(reason)
    if not said:
        raise _without_reason()
    made = prepare_turn(step.session, step.sequence, by=by)
    if not fits_in_a_request(made):
        Erasure.objects.filter(pk=made.pk).update(
            status=ERASING, reason=said, confirmed_by=by[:254], confirmed_at=now()
        )
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
    """Say what shall be erased; nothing is until `confirm`. Raises `InvalidInput`, `Conflict` (`on_hold`) for a session under legal hold."""
    require_free(session)
    kept = None if profile is None else profile.as_json()
    chosen_of(kept, fields, steps)
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
        profile=kept,
        fields=list(fields),
        steps=sorted(set(steps)),
        turn=turn,
        requested_by=by[:254],
        enqueued_at=now(),
    )


@transaction.atomic
def confirm(erasure: Erasure, *, reason: str, by: str) -> Erasure:
    """Have it erased, for a reason that the project's log keeps.

    Raises `InvalidInput` without a reason, `ReasonTells` for one that holds what is erased or what the built-in profile finds (of a long
    session, the worker that erases says so of the texts), `Conflict` where it is not looked through yet, is done, or found nothing.
    """
    row = Erasure.objects.select_for_update().get(pk=erasure.pk)
    require_free(row.session)
    chosen = chosen_of(row.profile, row.fields, row.steps, whole=row.turn)
    said = checked_reason(reason, chosen.rules)
    if not said:
        raise _without_reason()
    if row.status == LOOKING:
        raise Conflict(
            "The session is still looked through; confirm what you have seen.", code="erasure_looking"
        )
    if row.status != FOUND:
        raise Conflict("This was erased before, or is being erased.", code="erasure_confirmed")
    if not row.turn and not _finds_something(row.preview or {}):
        raise Conflict(
            "There is nothing of that kind in this session, so there is nothing to erase.",
            code="nothing_to_erase",
        )
    if fits_in_a_request(row):
        _require_unquoted(row, chosen, said)
    row.status, row.reason, row.problem = ERASING, said, None
    row.confirmed_by, row.confirmed_at, row.enqueued_at = by[:254], now(), now()
    row.save(update_fields=["status", "reason", "problem", "confirmed_by", "confirmed_at", "enqueued_at"])
    return row


def _without_reason() -> InvalidInput:
    return InvalidInput(
        f"Give a reason of at most {LONGEST:,} characters; it stays in the project's log, so write nothing of what is erased.",
        code="reason_missing",
        field="reason",
    )


def _finds_something(preview: Mapping[str, Any]) -> bool:
    return any(preview.get(name) for name in ("steps", "of_session", "replay_steps", "elsewhere"))


def fits_in_a_request(erasure: Erasure) -> bool:
    """Whether it is done while somebody waits."""
    return erasure.session.last_sequence <= AT_ONCE


def work(erasure_id: UUID) -> Erasure | None:
    """Do what is next: look, or erase; None where the session is gone. Safe to do twice and to be killed at any point."""
    with holding(overdue().filter(id=erasure_id)) as lease:
        if lease is not None:
            _do_next(lease)
    return Erasure.objects.select_related("session__project").filter(id=erasure_id).first()


def overdue() -> QuerySet[Erasure]:
    """Return the erasures that are to be looked for, or done."""
    return Erasure.objects.filter(status__in=(LOOKING, ERASING))


def _do_next(lease: Lease[Erasure]) -> None:
    row = lease.row("session__project")
    try:
        _look(lease, row) if row.status == LOOKING else _erase(lease, row)
    except (Conflict, ReasonTells) as why:
        lease.release(status=FOUND, problem=why.message, reason=None)


def _look(lease: Lease[Erasure], row: Erasure) -> None:
    chosen = chosen_of(row.profile, row.fields, row.steps, whole=row.turn)
    look = look_at(row.session, chosen)
    steps = touched(row.session, look)
    with transaction.atomic():
        _begin()
        session = _locked(row)
        looked_at = erased_fields.look(session, _with_children(session, steps))
        found = apply(session, look, steps)
        fields = erased_fields.count(looked_at)
        transaction.set_rollback(True)
    lease.write(status=FOUND, preview=found.as_json() | fields.as_json(), problem=None)


def _require_unquoted(row: Erasure, chosen: Chosen, reason: str, *, after: int = 0) -> None:
    """Raise `ReasonTells` where a text of a field that was chosen, of the steps behind one, stands in the reason."""
    if quotes(reason, erased_texts(row.session, chosen, after=after)):
        raise tells(WHAT_IS_ERASED)


def _erase(lease: Lease[Erasure], row: Erasure) -> None:
    chosen = chosen_of(row.profile, row.fields, row.steps, whole=row.turn)
    _require_unquoted(row, chosen, row.reason or "")
    look = look_at(row.session, chosen)
    seen_through = row.session.last_sequence
    steps = touched(row.session, look)
    with transaction.atomic():
        _begin()
        keep_from_sealing(row.session)
        session = _locked(row)
        row = lease.locked()
        require_free(session)
        if look_further(session, look, after=seen_through):
            steps = touched(session, look)
        else:
            steps = sorted({*steps, *touched(session, look, after=seen_through)})
        if session.last_sequence > seen_through:
            _require_unquoted(row, chosen, row.reason or "", after=seen_through)
        watched = erased_fields.watch(session, _with_children(session, steps))
        found = apply(session, look, steps)
        by, reason, at = row.confirmed_by or "", row.reason or "", now()
        turns = row.steps if row.turn else []
        fields = erased_fields.erase(watched, by=by, reason=reason, at=at, turns=turns)
        for sequence in turns:
            _leave_tombstone(session, sequence, by=by, reason=reason, at=at)
        index_anew(session, found.recorded.sequences)
        read_anew(session, erased=found.recorded.sequences)
        recount(session.id)
        if fields.total or found.elsewhere:
            seal_anew(session, by=by, reason=reason, fields=fields.total)
        _end(found.left)
        row.status, row.finished_at, row.problem = DONE, at, None
        row.result = found.as_json() | fields.as_json()
        row.save(update_fields=["status", "finished_at", "problem", "result"])
    clear_text_caches()


def _locked(row: Erasure) -> Session:
    """The session, and not its project: whoever writes into the project's log meanwhile refers to that."""
    found = Session.objects.select_for_update(of=("self",)).select_related("project")
    return found.get(pk=row.session_id)


def _leave_tombstone(session: Session, sequence: int, *, by: str, reason: str, at: datetime) -> None:
    """Keep that the step was deleted, and have the timeline name it so; what was said since of how much it matters goes.

    The label is read by whoever a link was given to: it says neither who nor why. It decides nothing: a step can be recorded under such a name.
    """
    ErasedTurn.objects.create(session=session, sequence=sequence, erased_at=at, erased_by=by, reason=reason)
    step = session.actions.filter(sequence=sequence)
    step.update(label=f"{DELETED_TURN} {at:%Y-%m-%d %H:%M} UTC")
    Weight.objects.filter(action__in=step).delete()
    Declined.objects.filter(action__in=step).delete()


def _begin() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'fields'")


def _end(left: Collection[int]) -> None:
    """Drop those of these payloads that nothing refers to any more, and go back to refusing every change."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        drop_unreferenced(left)
        cursor.execute("SET LOCAL timemachine.erasing = 'off'")


def _with_children(session: Session, steps: Sequence[int]) -> set[int]:
    """The steps, and those that name one of them by its id: where that id goes, they name it by its sequence."""
    ids = session.actions.filter(sequence__in=steps, client_id__isnull=False).values("client_id")
    children = session.actions.filter(parent_id_given__in=ids).values_list("sequence", flat=True)
    return {*steps, *children}
