"""Erasing fields over HTTP: see what would be erased, then confirm with a reason."""

from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging, routers
from timemachine.api.access import caller
from timemachine.governance.deletion.erasure import commands
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.governance.deletion.erasure.queries import erasure_of, erasures_of
from timemachine.governance.deletion.erasure.schemas import (
    ErasureConfirmation,
    ErasureIn,
    ErasureOut,
    ErasurePage,
)
from timemachine.governance.tasks import run_erasure
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.queries import session_of
from timemachine.text.redaction.queries import profile_of

router = Router(tags=["erasures"])


@routers.sessions.post(
    "/{session_id}/erasures",
    tags=["erasures"],
    response={202: ErasureOut},
    summary="See what an erasure would take away",
    exclude_unset=True,
)
def make(request: HttpRequest, session_id: str, payload: ErasureIn) -> Status[ErasureOut]:
    """Either `redaction`, a profile whose matches are to be erased, or `fields` by their paths (of `steps`, or of every step). Nothing is erased yet.

    `status` is `looking` until all steps have been read, then `found` with a `preview`; a worker reads a long session.
    """
    who = caller(request, "admin")
    profile = None if payload.redaction is None else profile_of(who.project, payload.redaction)
    made = commands.prepare(
        session_of(who.project, session_id),
        by=who.by,
        profile=profile,
        fields=payload.fields,
        steps=payload.steps,
    )
    return Status(202, ErasureOut.with_first_places(done_or_enqueued(made)))


@routers.sessions.get(
    "/{session_id}/erasures",
    tags=["erasures"],
    response=ErasurePage,
    summary="The erasures of a session",
    exclude_unset=True,
)
def index(
    request: HttpRequest, session_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> ErasurePage:
    """The erasures of a session, also those that were not confirmed, newest first."""
    session = session_of(caller(request, "read").project, session_id)
    found = erasures_of(session, None if after is None else paging.read(after, paging.identity))
    rows = list(found[: paging.checked_limit(limit) + 1])
    return paging.typed_page(ErasurePage, rows, limit, lambda each: [str(each.id)], ErasureOut.of)


@router.get("/{erasure_id}", response=ErasureOut, summary="One erasure", exclude_unset=True)
def read(request: HttpRequest, erasure_id: str) -> ErasureOut:
    """`status` is `looking`, `found`, `erasing` or `done`. Nothing here says what was erased; while it is `found`, `first` is the text of the first places afterwards."""
    return ErasureOut.with_first_places(erasure_of(caller(request, "read").project, erasure_id))


@router.post(
    "/{erasure_id}/confirm", response={202: ErasureOut}, summary="Erase for good", exclude_unset=True
)
def confirm(request: HttpRequest, erasure_id: UUID, payload: ErasureConfirmation) -> Status[ErasureOut]:
    """Erase what was found. This cannot be undone; the `reason` stays in the project's log."""
    who = caller(request, "admin")
    confirmed = commands.confirm(erasure_of(who.project, erasure_id), reason=payload.reason, by=who.by)
    return Status(202, ErasureOut.of(done_or_enqueued(confirmed)))


def done_or_enqueued(erasure: Erasure) -> Erasure:
    """The erasure after its next piece of work, if that is quick; otherwise it is enqueued."""
    if commands.fits_in_a_request(erasure):
        return commands.work(erasure.id) or erasure
    enqueue(run_erasure, erasure.id)
    return erasure
