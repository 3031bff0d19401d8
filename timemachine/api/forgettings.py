"""Deleting sessions in bulk over HTTP: see what would go, confirm it with a reason, follow it."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.forgetting_schemas import ForgettingConfirmation, ForgettingIn
from timemachine.governance.deletion.retention import commands
from timemachine.governance.deletion.retention.document import forgetting_json, forgotten_json
from timemachine.governance.deletion.retention.models import FOUND, Forgetting
from timemachine.governance.deletion.retention.queries import (
    forgetting_of,
    forgettings_of,
    held_of,
    is_every,
    named,
    outcomes_of,
    sessions_of,
)
from timemachine.governance.tasks import run_deletion
from timemachine.jobs.queue import enqueue

router = Router(tags=["forgetting"])


@router.post("", response={201: dict[str, Any]}, summary="See what a deletion in bulk would take away")
def make(request: HttpRequest, payload: ForgettingIn) -> Status[dict[str, Any]]:
    """Find the sessions that fit the `filter` now: how many sessions and turns, how many of them are `held` and would stay, of how many a summary

    stays in a collection (`summarised`), and whether it is `every` session of the project. Nothing is deleted yet.
    """
    who = caller(request, "admin")
    return Status(201, _told(commands.prepare(who.project, payload.filter.which(), by=who.by)))


@router.get("", summary="List deletions in bulk")
def index(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> dict[str, Any]:
    """The project's deletions in bulk, newest first, with what became of their sessions; also those of retention rules."""
    found = forgettings_of(caller(request, "read").project)
    if after is not None:
        found = found.filter(id__lt=paging.read(after, paging.identity))
    rows = list(found[: paging.checked_limit(limit) + 1])
    outcomes = outcomes_of(rows)
    return paging.page(
        rows, limit, lambda each: [str(each.id)], lambda each: forgetting_json(each, outcomes[each.id])
    )


@router.get("/{forgetting_id}", summary="One deletion in bulk")
def read(request: HttpRequest, forgetting_id: str) -> dict[str, Any]:
    """`status` is `found`, `running`, `done` or `cancelled`; `states` counts its sessions: waiting, erased, held, changed (they do not fit any more), gone, failed."""
    return _told(forgetting_of(caller(request, "read").project, forgetting_id))


@router.get("/{forgetting_id}/sessions", summary="The sessions of a deletion in bulk")
def sessions(
    request: HttpRequest, forgetting_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> dict[str, Any]:
    """Each session that was found, and what became of it."""
    project = caller(request, "read").project
    begin = 0 if after is None else paging.read(after, paging.number)
    rows = sessions_of(
        forgetting_of(project, forgetting_id), after=begin, most=paging.checked_limit(limit) + 1
    )
    there = named(rows, project)
    return paging.page(
        rows, limit, lambda each: [each.id], lambda each: forgotten_json(each, there.get(each.session))
    )


@router.post("/{forgetting_id}/confirm", response={202: dict[str, Any]}, summary="Delete what was found")
def confirm(
    request: HttpRequest, forgetting_id: str, payload: ForgettingConfirmation
) -> Status[dict[str, Any]]:
    """Have a worker delete the sessions that were found, for a `reason` that each tombstone keeps. There is no way back."""
    who = caller(request, "admin")
    found = commands.confirm(forgetting_of(who.project, forgetting_id), reason=payload.reason, by=who.by)
    enqueue(run_deletion, found.id)
    return Status(202, _told(found))


@router.post("/{forgetting_id}/cancel", summary="Call a deletion in bulk off")
def cancel(request: HttpRequest, forgetting_id: str) -> dict[str, Any]:
    """Delete none of the sessions that still wait; what is deleted stays deleted."""
    return _told(commands.cancel(forgetting_of(caller(request, "admin").project, forgetting_id)))


def _told(found: Forgetting) -> dict[str, Any]:
    outcome = outcomes_of([found])[found.id]
    if found.status != FOUND:
        return forgetting_json(found, outcome)
    return forgetting_json(found, outcome, held_of(found), every=outcome.sessions > 0 and is_every(found))
