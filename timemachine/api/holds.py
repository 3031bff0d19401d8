"""Legal holds over HTTP: place, read, release. While a session is under hold, nothing of it can be deleted or erased."""

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.core.pure.errors import InvalidInput
from timemachine.governance.deletion.retention import legal_holds
from timemachine.governance.deletion.retention.queries import (
    amount_of,
    held_by,
    hold_of,
    holds_of,
    holds_over,
    matching_sessions,
)
from timemachine.governance.deletion.retention.schemas import (
    HoldDetails,
    HoldIn,
    HoldOut,
    HoldPage,
    HoldPreview,
    ReleaseIn,
    SelectionOut,
    SessionHeld,
)
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of, sessions_named

router = Router(tags=["forgetting"])


@router.post("", response={200: HoldPreview, 201: HoldOut}, summary="Place a legal hold", exclude_unset=True)
def place(request: HttpRequest, payload: HoldIn) -> Status[HoldPreview | HoldOut]:
    """Hold `sessions`, or all that match the `filter` now: nothing of them can be deleted or erased until they are released.

    It needs a `reason`; the project's log keeps it, with who and when. With `dry_run`, the answer is how many sessions and steps it would cover.
    """
    who = caller(request, "admin")
    if (payload.filter is None) == (not payload.sessions):
        raise InvalidInput("Send either `sessions` or a `filter`.", code="nothing_chosen", field="sessions")
    which = payload.filter.which() if payload.filter else None
    if payload.dry_run and which is not None:
        amount = amount_of(matching_sessions(who.project, which))
        return Status(200, HoldPreview.of(amount, filter=SelectionOut.model_construct(**which.given)))
    sessions = sessions_named(who.project, payload.sessions)
    if payload.dry_run:
        named = Session.objects.of(who.project).filter(pk__in=[each.pk for each in sessions])
        return Status(200, HoldPreview.of(amount_of(named), filter=None))
    made = legal_holds.place(who.project, reason=payload.reason, by=who.by, sessions=sessions, which=which)
    return Status(201, HoldOut.of(made))


@router.get("", response=HoldPage, summary="List legal holds", exclude_unset=True)
def index(
    request: HttpRequest,
    session: str = "",
    limit: int = paging.DEFAULT,
    after: str | None = None,
) -> HoldPage:
    """The project's holds, also released ones, newest first; with `session`, those that it is or was under."""
    project = caller(request, "read").project
    found = holds_over(session_of(project, session)) if session else holds_of(project)
    if after is not None:
        found = found.filter(id__lt=paging.read(after, paging.identity))
    rows = list(found[: paging.checked_limit(limit) + 1])
    return paging.typed_page(HoldPage, rows, limit, lambda each: [str(each.id)], HoldOut.of)


@router.get("/{hold_id}", response=HoldDetails, summary="One legal hold", exclude_unset=True)
def read(request: HttpRequest, hold_id: str) -> HoldDetails:
    """A hold with its first 100 sessions."""
    found = hold_of(caller(request, "read").project, hold_id)
    return HoldDetails.of(found, first=[SessionHeld.of(*each) for each in held_by(found)])


@router.post("/{hold_id}/release", response=HoldOut, summary="Release a legal hold", exclude_unset=True)
def release(request: HttpRequest, hold_id: str, payload: ReleaseIn) -> HoldOut:
    """Release all of a hold, or only these `sessions` of it, for a `reason` that the project's log keeps."""
    who = caller(request, "admin")
    found = hold_of(who.project, hold_id)
    sessions = sessions_named(who.project, payload.sessions)
    return HoldOut.of(legal_holds.release(found, reason=payload.reason, by=who.by, sessions=sessions))
