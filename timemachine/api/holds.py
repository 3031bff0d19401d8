"""Legal holds over HTTP: placed, read, released. While one is on, nothing of its sessions can be deleted or erased."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.forgetting_schemas import HoldIn, ReleaseIn
from timemachine.core.pure.errors import InvalidInput
from timemachine.governance.deletion.retention import legal_holds
from timemachine.governance.deletion.retention.document import held_json, hold_json, which_json
from timemachine.governance.deletion.retention.queries import (
    amount_of,
    held_by,
    hold_of,
    holds_of,
    holds_over,
    sessions_meant,
)
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of, sessions_named

router = Router(tags=["forgetting"])


@router.post("", response={200: dict[str, Any], 201: dict[str, Any]}, summary="Place a legal hold")
def place(request: HttpRequest, payload: HoldIn) -> Status[dict[str, Any]]:
    """Hold `sessions`, or all that fit the `filter` at this moment: nothing of them can be deleted or erased before it is released.

    It needs a `reason`; a line in the project's log keeps it, who and when. With `dry_run` the answer is how many sessions and turns that would be.
    """
    who = caller(request, "admin")
    if (payload.filter is None) == (not payload.sessions):
        raise InvalidInput("Send either `sessions` or a `filter`.", code="nothing_chosen", field="sessions")
    which = payload.filter.which() if payload.filter else None
    if payload.dry_run and which is not None:
        return Status(200, which_json(which, amount_of(sessions_meant(who.project, which))))
    sessions = sessions_named(who.project, payload.sessions)
    if payload.dry_run:
        named = Session.objects.of(who.project).filter(pk__in=[each.pk for each in sessions])
        return Status(200, {"filter": None, **asdict(amount_of(named))})
    made = legal_holds.place(who.project, reason=payload.reason, by=who.by, sessions=sessions, which=which)
    return Status(201, hold_json(made))


@router.get("", summary="List legal holds")
def index(
    request: HttpRequest,
    session: str = "",
    limit: int = paging.DEFAULT,
    after: str | None = None,
) -> dict[str, Any]:
    """The project's holds, newest first, released ones too; of one `session` those that it is or was under."""
    project = caller(request, "read").project
    found = holds_over(session_of(project, session)) if session else holds_of(project)
    if after is not None:
        found = found.filter(id__lt=paging.read(after, paging.identity))
    rows = list(found[: paging.checked_limit(limit) + 1])
    return paging.page(rows, limit, lambda each: [str(each.id)], hold_json)


@router.get("/{hold_id}", summary="One legal hold")
def read(request: HttpRequest, hold_id: str) -> dict[str, Any]:
    """A hold with its first 100 sessions."""
    found = hold_of(caller(request, "read").project, hold_id)
    return hold_json(found) | {"first": [held_json(*each) for each in held_by(found)]}


@router.post("/{hold_id}/release", summary="Release a legal hold")
def release(request: HttpRequest, hold_id: str, payload: ReleaseIn) -> dict[str, Any]:
    """Release all of a hold, or only these `sessions` of it, for a `reason` that the project's log keeps."""
    who = caller(request, "admin")
    found = hold_of(who.project, hold_id)
    sessions = sessions_named(who.project, payload.sessions)
    return hold_json(legal_holds.release(found, reason=payload.reason, by=who.by, sessions=sessions))
