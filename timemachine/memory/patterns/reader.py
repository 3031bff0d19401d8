"""Read sessions for patterns: a worker reads them batch by batch, without blocking the recording.

See `timemachine.memory.backlog`. Writing wordings requires the project's lock, which the trigger that deletes
wordings also takes; a worker waits less time for it than an erasure does.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Case, DateTimeField, F, When
from django.db.models.functions import Coalesce

from timemachine.core.payloads.queries import Head, heads
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import value_of
from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.backlog import (
    Backlog,
    Overtaken,
    SessionBehind,
    give_way_to_erasures,
    store_if_current,
)
from timemachine.memory.patterns.models import PatternReading, PatternStep, ReadSession
from timemachine.memory.patterns.models import Wording as KeptWording
from timemachine.memory.patterns.pure.step_texts import ERROR, Kind, Step, error_or_question_of, failure_of
from timemachine.memory.patterns.pure.wording import Wording, wording_of
from timemachine.memory.patterns.significance import CHANGED_SINCE, significance_of, with_significance
from timemachine.memory.patterns.solutions import (
    Call,
    Solution,
    UnsolvedError,
    calls_of,
    solutions_of,
    unsolved_errors,
)
from timemachine.recording.sessions.models import Action, Session

BATCH: Final = 500
LONGEST: Final = 32 * 1024
"""How many bytes of an input or an output are read."""
_READ: Final = (
    "project_id", "sequence", "copied_from", "kind", "layer", "role", "name", "tool", "call_id", "significance", "error_type",
    "error_message", "input_id", "output_id",
)  # fmt: skip
_HAPPENED_AT: Final = Coalesce(
    "started_at", Case(When(session__imported_as=None, then="recorded_at"), output_field=DateTimeField())
)
"""`time_of` a step."""
_MORE_PROJECTS: Final = """
UNION SELECT w.project_id FROM tm_wording w WHERE w.stale OR w.pattern_id IS NULL
UNION SELECT r.project_id FROM tm_pattern_reading r WHERE r.regroup
UNION SELECT r.project_id FROM tm_read_session r JOIN tm_weight_change c ON c.session_id = r.session_id
WHERE c.at > r.began_at - interval '5 seconds'
"""
BACKLOG: Final = Backlog(
    work=PatternReading,
    progress=ReadSession,
    through="read_through",
    restarts="begun",
    more_projects=_MORE_PROJECTS,
)
"""The steps that are not read for patterns yet, and the projects with wordings to group or count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """The error or question of a step, as it is stored."""

    action: int
    sequence: int
    at: datetime | None
    kind: Kind
    wording: Wording
    call: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """A range of a session's steps, the errors and questions in it, and what it solved."""

    session: UUID
    project: UUID
    after: int
    through: int
    begun: int
    said: Sequence[_Statement]
    solved: Mapping[int, Solution]


def read_new_steps(project_id: UUID, seconds: float) -> bool:
    """Read new steps of the project for about that many seconds. Return True if there is more to do now."""
    until = time.monotonic() + seconds
    for session in _weighed_since(project_id):
        reread_session(session)
    return BACKLOG.work_off(
        project_id, until, lambda session, through: _read_some(project_id, session, through)
    )


@transaction.atomic
def reread_session(session: Session, erased: Collection[int] = ()) -> None:
    """Have a session read again after a change of significance or an erasure. Patterns of the `erased` steps are
    deleted immediately.
    """
    ReadSession.objects.bulk_create(
        [ReadSession(session=session, project_id=session.project_id, began_at=now())], ignore_conflicts=True
    )
    row = ReadSession.objects.filter(session=session)
    row.update(read_through=0, begun=F("begun") + 1, began_at=now())
    stored = PatternStep.objects.filter(session=session)
    stored.filter(sequence__in=list(erased)).delete()
    stored.filter(solved_by__isnull=False).update(solved_by=None, solved_how=None, changed=[])


def lock_project(project_id: UUID) -> None:
    """Lock the project until this transaction ends. Raises `OperationalError` if an erasure holds the lock for
    more than a moment.
    """
    give_way_to_erasures()
    with connection.cursor() as cursor:
        cursor.execute("SELECT tm_lock_wordings(%s)", [project_id])


def step_of(action: Action, found: Mapping[int, Head]) -> Step:
    """Return the step as it is read; `found` has the beginnings of its payloads by row."""
    return Step(
        kind=action.kind,
        layer=action.layer,
        role=action.role,
        significance=significance_of(action),
        error_type=action.error_type,
        error_message=action.error_message,
        input=_value(found.get(action.input_id or 0)),
        output=_value(found.get(action.output_id or 0)),
    )


def payloads_of(action: Action) -> set[int]:
    """Return the payload rows that have to be read for a step."""
    if action.kind in {"tool_call", "tool_result"}:
        ids = {action.output_id}
    elif action.kind == "ask":
        ids = {action.input_id}
    elif action.kind == "message" or significance_of(action) == ERROR or action.error_type is not None:
        ids = {action.input_id, action.output_id}
    else:
        ids = set()
    return {each for each in ids if each is not None}


def next_steps(session_id: UUID, after: int) -> list[Action]:
    """Return the next batch of steps of a session, with `happened_at`. One query."""
    following = with_significance(Action.objects.filter(session_id=session_id, sequence__gt=after))
    return list(following.annotate(happened_at=_HAPPENED_AT).order_by("sequence").only(*_READ)[:BATCH])


def _read_some(project_id: UUID, session: SessionBehind, after: int) -> int:
    """Read the next steps of a session. Return how many; 0 if it is being erased or another worker was faster."""
    actions = next_steps(session.id, after)
    if not actions:
        return 0
    batch = _batch(project_id, session.id, actions, after, session.restarts)
    begun = ReadSession(session_id=session.id, project_id=project_id, began_at=now())
    stored = store_if_current(begun, lambda: _store(batch))
    return batch.through - after if stored else 0


def _batch(project_id: UUID, session_id: UUID, actions: Sequence[Action], after: int, begun: int) -> _Batch:
    """Return what the next steps add to patterns. Copied steps do not: they do in the session in which they happened."""
    through = actions[-1].sequence
    actions = [each for each in actions if not each.is_copied]
    found = heads({row for each in actions for row in payloads_of(each)}, LONGEST)
    steps = {each.id: step_of(each, found) for each in actions}
    calls = calls_of(session_id, actions)
    statements = [one for each in actions if (one := _statement(each, steps[each.id], calls.get(each.id)))]
    errors = [
        UnsolvedError(action=each.action, sequence=each.sequence, call=each.call)
        for each in statements
        if each.kind == ERROR
    ]
    succeeded = [call for row, call in calls.items() if _succeeded(steps[row])]
    return _Batch(
        session=session_id,
        project=project_id,
        after=after,
        through=through,
        begun=begun,
        said=statements,
        solved=solutions_of(
            session_id, [*unsolved_errors(session_id), *errors], succeeded, after=after, through=through
        ),
    )


def _statement(action: Action, step: Step, call: Call | None) -> _Statement | None:
    found = error_or_question_of(step)
    wording = wording_of(found[1], action.tool or action.name) if found else None
    if found is None or wording is None:
        return None
    return _Statement(
        action=action.id,
        sequence=action.sequence,
        at=action.happened_at,  # type: ignore[attr-defined]  # annotated
        kind=found[0],
        wording=wording,
        call=call.call if call and found[0] == ERROR else None,
    )


def _succeeded(step: Step) -> bool:
    """Return whether a call returned without an error."""
    return step.output is not None and failure_of(step) is None


def _value(head: Head | None) -> Any:
    """Return the recorded value, or the beginning of a long one as text."""
    if head is None:
        return None
    if head.size > len(head.data):
        return head.data.decode("utf-8", "replace")
    try:
        return value_of(head.media_type, head.data)
    except (ValueError, InvalidInput):
        return head.data.decode("utf-8", "replace")


@transaction.atomic
def _store(batch: _Batch) -> None:
    """Store the result of a batch and how far the session is read. Raises if it was erased or another worker was
    faster.
    """
    lock_project(batch.project)
    unmoved = ReadSession.objects.filter(
        session_id=batch.session, read_through=batch.after, begun=batch.begun
    )
    if not unmoved.update(read_through=batch.through):
        raise Overtaken
    stored = _store_wordings(batch)
    _delete_outdated(batch, stored)
    PatternStep.objects.bulk_create(
        [
            PatternStep(
                action_id=each.action,
                project_id=batch.project,
                session_id=batch.session,
                sequence=each.sequence,
                wording_id=stored[each.kind, each.wording.digest],
                at=each.at,
                call=each.call,
            )
            for each in batch.said
        ],
        ignore_conflicts=True,
    )
    for action, solution in batch.solved.items():
        _solve(action, solution)


def _store_wordings(batch: _Batch) -> dict[tuple[str, str], UUID]:
    """Return the rows of the wordings, existing and new, all marked to be counted again."""
    wordings = {(each.kind, each.wording.digest): each.wording for each in batch.said}
    new = [
        KeptWording(project_id=batch.project, kind=kind, digest=digest, text=one.text, words=list(one.words))
        for (kind, digest), one in wordings.items()
    ]
    KeptWording.objects.bulk_create(new, ignore_conflicts=True)
    rows = KeptWording.objects.filter(project=batch.project, digest__in=[digest for _, digest in wordings])
    rows.filter(stale=False).update(stale=True)
    return {(kind, digest): row for row, kind, digest in rows.values_list("id", "kind", "digest")}


def _delete_outdated(batch: _Batch, stored: Mapping[tuple[str, str], UUID]) -> None:
    """Delete what an earlier reading stored for steps of the batch and this one did not find."""
    says = {each.action: stored[each.kind, each.wording.digest] for each in batch.said}
    there = PatternStep.objects.filter(
        session_id=batch.session, sequence__gt=batch.after, sequence__lte=batch.through
    )
    others = [
        row for row, wording in there.values_list("action_id", "wording_id") if says.get(row) != wording
    ]
    there.filter(action__in=others).delete()


def _weighed_since(project_id: UUID) -> list[Session]:
    with connection.cursor() as cursor:
        cursor.execute(CHANGED_SINCE, [project_id])
        found = [row[0] for row in cursor.fetchall()]
    return list(Session.objects.filter(id__in=found)) if found else []


def _solve(action: int, solution: Solution) -> None:
    found = PatternStep.objects.filter(action=action, solved_by=None)
    found.update(solved_by=solution.by, solved_how=solution.how, changed=list(solution.changed))
    KeptWording.objects.filter(said_by__action=action).update(stale=True)
