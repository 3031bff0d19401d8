"""Deleting sessions in bulk over HTTP: see what would be deleted, confirm it with a reason, follow it."""

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.governance.deletion.retention import commands
from timemachine.governance.deletion.retention.models import FOUND, BulkDeletion
from timemachine.governance.deletion.retention.queries import (
    bulk_deletion_of,
    bulk_deletions_of,
    existing_sessions,
    held_count,
    is_every,
    outcomes_by_deletion,
    sessions_of,
)
from timemachine.governance.deletion.retention.schemas import (
    DeletionConfirmation,
    DeletionIn,
    DeletionOut,
    DeletionPage,
    DeletionSession,
    DeletionSessions,
)
from timemachine.governance.tasks import run_deletion
from timemachine.jobs.queue import enqueue

router = Router(tags=["forgetting"])


@router.post(
    "",
    response={201: DeletionOut},
    summary="See what a deletion in bulk would take away",
    exclude_unset=True,
)
def make(request: HttpRequest, payload: DeletionIn) -> Status[DeletionOut]:
    """Find the sessions that match the `filter` now. Nothing is deleted yet.

    The answer says how many sessions and steps they are, how many sessions are `held` and would stay, of how many a summary stays in a
    collection (`summarised`), and whether it is `every` session of the project.
    """
    who = caller(request, "admin")
    return Status(201, _deletion(commands.prepare(who.project, payload.filter.which(), by=who.by)))


@router.get("", response=DeletionPage, summary="List deletions in bulk", exclude_unset=True)
def index(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> DeletionPage:
    """The project's bulk deletions, also those of retention rules, newest first, with what became of their sessions."""
    found = bulk_deletions_of(caller(request, "read").project)
    if after is not None:
        found = found.filter(id__lt=paging.read(after, paging.identity))
    rows = list(found[: paging.checked_limit(limit) + 1])
    outcomes = outcomes_by_deletion(rows)
    return paging.typed_page(
        DeletionPage,
        rows,
        limit,
        lambda each: [str(each.id)],
        lambda each: DeletionOut.of(each, outcomes[each.id]),
    )


@router.get("/{forgetting_id}", response=DeletionOut, summary="One deletion in bulk", exclude_unset=True)
def read(request: HttpRequest, forgetting_id: str) -> DeletionOut:
    """`status` is `found`, `running`, `done` or `cancelled`; `states` counts its sessions: waiting, erased, held, changed (they no longer match), gone, failed."""
    return _deletion(bulk_deletion_of(caller(request, "read").project, forgetting_id))


@router.get(
    "/{forgetting_id}/sessions", response=DeletionSessions, summary="The sessions of a deletion in bulk"
)
def sessions(
    request: HttpRequest, forgetting_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> DeletionSessions:
    """Each session that was found, and what became of it."""
    project = caller(request, "read").project
    begin = 0 if after is None else paging.read(after, paging.number)
    rows = sessions_of(
        bulk_deletion_of(project, forgetting_id), after=begin, most=paging.checked_limit(limit) + 1
    )
    there = existing_sessions(rows, project)
    return paging.typed_page(
        DeletionSessions,
        rows,
        limit,
        lambda each: [each.id],
        lambda each: DeletionSession.of(each, there.get(each.session)),
    )


@router.post(
    "/{forgetting_id}/confirm",
    response={202: DeletionOut},
    summary="Delete what was found",
    exclude_unset=True,
)
def confirm(request: HttpRequest, forgetting_id: str, payload: DeletionConfirmation) -> Status[DeletionOut]:
    """Have a worker delete the sessions that were found, for a `reason` that each tombstone keeps. This cannot be undone."""
    who = caller(request, "admin")
    found = commands.confirm(bulk_deletion_of(who.project, forgetting_id), reason=payload.reason, by=who.by)
    enqueue(run_deletion, found.id)
    return Status(202, _deletion(found))


@router.post(
    "/{forgetting_id}/cancel", response=DeletionOut, summary="Call a deletion in bulk off", exclude_unset=True
)
def cancel(request: HttpRequest, forgetting_id: str) -> DeletionOut:
    """Delete none of the sessions that still wait; deleted sessions stay deleted."""
    return _deletion(commands.cancel(bulk_deletion_of(caller(request, "admin").project, forgetting_id)))


def _deletion(found: BulkDeletion) -> DeletionOut:
    outcome = outcomes_by_deletion([found])[found.id]
    if found.status != FOUND:
        return DeletionOut.of(found, outcome)
    return DeletionOut.of(found, outcome, held_count(found), every=outcome.sessions > 0 and is_every(found))
