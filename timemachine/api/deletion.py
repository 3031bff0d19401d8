"""Deletion over HTTP: sessions in bulk, legal holds, erasure of fields, retention rules."""

from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.sessions import router as sessions_router
from timemachine.core.pure.errors import InvalidInput
from timemachine.governance.deletion.erasure import commands as erasure_commands
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.governance.deletion.erasure.queries import erasure_of, erasures_of
from timemachine.governance.deletion.erasure.schemas import (
    ErasureConfirmation,
    ErasureIn,
    ErasureOut,
    ErasurePage,
)
from timemachine.governance.deletion.retention import commands, legal_holds, queries, retention
from timemachine.governance.deletion.retention.models import FOUND, BulkDeletion
from timemachine.governance.deletion.retention.schemas import (
    FLOOR,
    DeletionConfirmation,
    DeletionIn,
    DeletionOut,
    DeletionPage,
    DeletionSession,
    DeletionSessions,
    HoldDetails,
    HoldIn,
    HoldOut,
    HoldPage,
    HoldPreview,
    ReleaseIn,
    RetentionPreview,
    RetentionRuleIn,
    RetentionRuleOut,
    RetentionRules,
    SelectionOut,
    SessionHeld,
)
from timemachine.governance.tasks import run_deletion, run_erasure
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of, sessions_named
from timemachine.text.redaction.queries import profile_of

router = Router(tags=["forgetting"])


@router.post(
    "",
    response={201: DeletionOut},
    summary="Prepare a bulk deletion",
    exclude_unset=True,
)
def make(request: HttpRequest, payload: DeletionIn) -> Status[DeletionOut]:
    """Find the sessions that match the `filter` now. Nothing is deleted yet.

    The answer says how many sessions and steps they are, how many sessions are `held` and would stay, of how many a summary stays in a
    collection (`summarised`), and whether it is `every` session of the project.
    """
    who = caller(request, "admin")
    return Status(201, _deletion(commands.prepare(who.project, payload.filter.checked(), by=who.by)))


@router.get("", response=DeletionPage, summary="List bulk deletions", exclude_unset=True)
def index(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> DeletionPage:
    """The project's bulk deletions, including those of retention rules, newest first, with the results for their sessions."""
    found = queries.bulk_deletions_of(caller(request, "read").project)
    rows, following = paging.ordered_rows(found, limit, after)
    outcomes = queries.outcomes_by_deletion(rows)
    shown = [DeletionOut.of(each, outcomes[each.id]) for each in rows]
    return DeletionPage.model_construct(items=shown, next=following)


@router.get("/{forgetting_id}", response=DeletionOut, summary="One bulk deletion", exclude_unset=True)
def read(request: HttpRequest, forgetting_id: str) -> DeletionOut:
    """`status` is `found`, `running`, `done` or `cancelled`; `states` counts its sessions: waiting, erased, held, changed (they no longer match), gone, failed."""
    return _deletion(queries.bulk_deletion_of(caller(request, "read").project, forgetting_id))


@router.get("/{forgetting_id}/sessions", response=DeletionSessions, summary="The sessions of a bulk deletion")
def sessions(
    request: HttpRequest, forgetting_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> DeletionSessions:
    """Each session that was found, and its result."""
    project = caller(request, "read").project
    found = queries.sessions_of(queries.bulk_deletion_of(project, forgetting_id))
    rows, following = paging.ordered_rows(found, limit, after, "id", paging.number)
    there = queries.existing_sessions(rows, project)
    shown = [DeletionSession.of(each, there.get(each.session)) for each in rows]
    return DeletionSessions.model_construct(items=shown, next=following)


@router.post(
    "/{forgetting_id}/confirm",
    response={202: DeletionOut},
    summary="Delete the sessions found",
    exclude_unset=True,
)
def confirm(request: HttpRequest, forgetting_id: str, payload: DeletionConfirmation) -> Status[DeletionOut]:
    """Have a worker delete the sessions found, for a `reason` that each tombstone keeps. This cannot be undone."""
    who = caller(request, "admin")
    found = commands.confirm(
        queries.bulk_deletion_of(who.project, forgetting_id), reason=payload.reason, by=who.by
    )
    enqueue(run_deletion, found.id)
    return Status(202, _deletion(found))


@router.post(
    "/{forgetting_id}/cancel", response=DeletionOut, summary="Cancel a bulk deletion", exclude_unset=True
)
def cancel(request: HttpRequest, forgetting_id: str) -> DeletionOut:
    """Stop deleting sessions that are still waiting. Deleted sessions stay deleted."""
    return _deletion(
        commands.cancel(queries.bulk_deletion_of(caller(request, "admin").project, forgetting_id))
    )


def _deletion(found: BulkDeletion) -> DeletionOut:
    outcome = queries.outcomes_by_deletion([found])[found.id]
    if found.status != FOUND:
        return DeletionOut.of(found, outcome)
    return DeletionOut.of(
        found, outcome, queries.held_count(found), every=outcome.sessions > 0 and queries.is_every(found)
    )


holds = Router(tags=["forgetting"])


@holds.post("", response={200: HoldPreview, 201: HoldOut}, summary="Place a legal hold", exclude_unset=True)
def place_hold(request: HttpRequest, payload: HoldIn) -> Status[HoldPreview | HoldOut]:
    """Hold `sessions`, or all that match the `filter` now: they cannot be deleted or erased, in part or completely, until they are released.

    It needs a `reason`; the project's log keeps it, with who and when. With `dry_run`, the answer is how many sessions and steps it would cover.
    """
    who = caller(request, "admin")
    if (payload.filter is None) == (not payload.sessions):
        raise InvalidInput("Send either `sessions` or a `filter`.", code="nothing_chosen", field="sessions")
    which = payload.filter.checked() if payload.filter else None
    if payload.dry_run and which is not None:
        counts = queries.amount_of(queries.matching_sessions(who.project, which))
        chosen = SelectionOut.model_construct(**which.given)
        return Status(200, HoldPreview.model_construct(filter=chosen, **dict(counts)))
    sessions = sessions_named(who.project, payload.sessions)
    if payload.dry_run:
        named = Session.objects.of(who.project).filter(pk__in=[each.pk for each in sessions])
        return Status(200, HoldPreview.model_construct(filter=None, **dict(queries.amount_of(named))))
    made = legal_holds.place(who.project, reason=payload.reason, by=who.by, sessions=sessions, which=which)
    return Status(201, HoldOut.of(made))


@holds.get("", response=HoldPage, summary="List legal holds", exclude_unset=True)
def list_holds(
    request: HttpRequest, session: str = "", limit: int = 50, after: str | None = None
) -> HoldPage:
    """The project's holds, including released ones, newest first. With `session`, those that it is or was under."""
    project = caller(request, "read").project
    found = queries.holds_over(session_of(project, session)) if session else queries.holds_of(project)
    rows, following = paging.ordered_rows(found, limit, after)
    return HoldPage.model_construct(items=[HoldOut.of(each) for each in rows], next=following)


@holds.get("/{hold_id}", response=HoldDetails, summary="One legal hold", exclude_unset=True)
def read_hold(request: HttpRequest, hold_id: str) -> HoldDetails:
    """A hold with its first 100 sessions."""
    found = queries.hold_of(caller(request, "read").project, hold_id)
    return HoldDetails.of(found, first=[SessionHeld.of(*each) for each in queries.held_by(found)])


@holds.post("/{hold_id}/release", response=HoldOut, summary="Release a legal hold", exclude_unset=True)
def release_hold(request: HttpRequest, hold_id: str, payload: ReleaseIn) -> HoldOut:
    """Release a hold, or only these `sessions` of it, for a `reason` that the project's log keeps."""
    who = caller(request, "admin")
    found = queries.hold_of(who.project, hold_id)
    sessions = sessions_named(who.project, payload.sessions)
    return HoldOut.of(legal_holds.release(found, reason=payload.reason, by=who.by, sessions=sessions))


erasures = Router(tags=["erasures"])


@sessions_router.post(
    "/{session_id}/erasures",
    tags=["erasures"],
    response={202: ErasureOut},
    summary="Prepare an erasure",
    exclude_unset=True,
)
def prepare_erasure(request: HttpRequest, session_id: str, payload: ErasureIn) -> Status[ErasureOut]:
    """Either `redaction`, a profile whose matches are to be erased, or `fields` by their paths (of `steps`, or of every step). Nothing is erased yet.

    `status` is `looking` until all steps have been read, then `found` with a `preview`; a worker reads a long session.
    """
    who = caller(request, "admin")
    profile = None if payload.redaction is None else profile_of(who.project, payload.redaction)
    made = erasure_commands.prepare(
        session_of(who.project, session_id),
        by=who.by,
        profile=profile,
        fields=payload.fields,
        steps=payload.steps,
    )
    return Status(202, ErasureOut.with_first_places(done_or_enqueued(made)))


@sessions_router.get(
    "/{session_id}/erasures",
    tags=["erasures"],
    response=ErasurePage,
    summary="List a session's erasures",
    exclude_unset=True,
)
def list_erasures(
    request: HttpRequest, session_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> ErasurePage:
    """The erasures of a session, including those that were not confirmed, newest first."""
    session = session_of(caller(request, "read").project, session_id)
    rows, following = paging.ordered_rows(erasures_of(session), limit, after)
    return ErasurePage.model_construct(items=[ErasureOut.of(each) for each in rows], next=following)


@erasures.get("/{erasure_id}", response=ErasureOut, summary="One erasure", exclude_unset=True)
def read_erasure(request: HttpRequest, erasure_id: str) -> ErasureOut:
    """`status` is `looking`, `found`, `erasing` or `done`. Nothing here says what was erased. While it is `found`, `first` shows the first places as they will read afterwards."""
    return ErasureOut.with_first_places(erasure_of(caller(request, "read").project, erasure_id))


@erasures.post(
    "/{erasure_id}/confirm", response={202: ErasureOut}, summary="Confirm an erasure", exclude_unset=True
)
def confirm_erasure(
    request: HttpRequest, erasure_id: UUID, payload: ErasureConfirmation
) -> Status[ErasureOut]:
    """Erase what was found. This cannot be undone; the `reason` stays in the project's log."""
    who = caller(request, "admin")
    confirmed = erasure_commands.confirm(
        erasure_of(who.project, erasure_id), reason=payload.reason, by=who.by
    )
    return Status(202, ErasureOut.of(done_or_enqueued(confirmed)))


def done_or_enqueued(erasure: Erasure) -> Erasure:
    """The erasure after its next piece of work, if that is quick; otherwise it is enqueued."""
    next_ = erasure_commands.work_if_short(erasure)
    if next_.is_under_way:
        enqueue(run_erasure, next_.id)
    return next_


rules = Router(tags=["forgetting"])


@rules.get("", response=RetentionRules, summary="List retention rules")
def list_rules(request: HttpRequest) -> RetentionRules:
    """The project's rules, the most specific first, each with what it would delete now (`due`). Sessions that no rule covers are kept permanently."""
    rules = list(queries.rules_of(caller(request, "read").project))
    items = [RetentionRuleOut.of(rule, queries.amount_of(queries.due_by(rule, rules))) for rule in rules]
    return RetentionRules.model_construct(items=items, floor=FLOOR)


@rules.post("", response={200: RetentionPreview, 201: RetentionRuleOut}, summary="Set a retention rule")
def set_rule(request: HttpRequest, payload: RetentionRuleIn) -> Status[RetentionPreview | RetentionRuleOut]:
    """Keep the sessions of an `agent`, with a `tag`, both, or all others for `days` after the last recording in them; null keeps them permanently.

    If several rules cover a session, the most specific applies: a tag and an agent, a tag, an agent, all; among equals, the one that keeps longer.
    Fewer than 183 days need a `reason`. With `dry_run`, nothing is set, and the answer says what the rule would delete today (`due`), when the
    first session that is not held is or was old enough (`first`), and which rule it would replace (`replaces`). Setting the same rule again
    changes nothing.
    """
    who = caller(request, "admin")
    given = payload.model_dump(exclude={"dry_run"})
    if payload.dry_run:
        return Status(200, RetentionPreview.of(retention.preview(who.project, **given | {"reason": None})))
    made = retention.set_rule(who.project, by=who.by, **given)
    rules = list(queries.rules_of(who.project))
    return Status(201, RetentionRuleOut.of(made, queries.amount_of(queries.due_by(made, rules))))


@rules.delete("/{rule_id}", response=RetentionRuleOut, summary="Remove a retention rule")
def remove_rule(request: HttpRequest, rule_id: str) -> RetentionRuleOut:
    """Remove a rule. Sessions that no other rule covers are then kept permanently."""
    who = caller(request, "admin")
    return RetentionRuleOut.of(retention.remove_rule(queries.rule_of(who.project, rule_id), by=who.by))
