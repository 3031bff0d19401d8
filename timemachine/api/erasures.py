"""Erasing fields over HTTP: see what would go, then confirm with a reason."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging, routers, schemas
from timemachine.api.access import caller
from timemachine.governance.deletion.erasure import commands
from timemachine.governance.deletion.erasure.document import erasure_json
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.governance.deletion.erasure.queries import erasure_of, erasures_of
from timemachine.governance.deletion.erasure.sample import sample_of
from timemachine.governance.tasks import run_erasure
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.queries import session_of
from timemachine.text.redaction.queries import profile_of

router = Router(tags=["erasures"])


@routers.sessions.post(
    "/{session_id}/erasures",
    tags=["erasures"],
    response={202: dict[str, Any]},
    summary="See what an erasure would take away",
)
def make(request: HttpRequest, session_id: str, payload: schemas.ErasureIn) -> Status[dict[str, Any]]:
    """Either `redaction`, a profile whose findings go, or `fields` by their paths (of `steps`, or of every step). Nothing is erased yet.

    `status` is `looking` until all steps were looked through, then `found` with a `preview`; a long session takes a worker a while.
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
    return Status(202, _with_first(done_or_enqueued(made)))


@routers.sessions.get("/{session_id}/erasures", tags=["erasures"], summary="The erasures of a session")
def index(
    request: HttpRequest, session_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> dict[str, Any]:
    """What was erased of a session, or looked for, newest first."""
    session = session_of(caller(request, "read").project, session_id)
    found = erasures_of(session, None if after is None else paging.read(after, paging.identity))
    shown = found[: paging.checked_limit(limit) + 1]
    return paging.page(list(shown), limit, lambda each: [str(each.id)], erasure_json)


@router.get("/{erasure_id}", summary="One erasure")
def read(request: HttpRequest, erasure_id: str) -> dict[str, Any]:
    """`status` is `looking`, `found`, `erasing` or `done`; nothing of it says what was erased; `first` is how the first places would read, while it is `found`."""
    return _with_first(erasure_of(caller(request, "read").project, erasure_id))


@router.post("/{erasure_id}/confirm", response={202: dict[str, Any]}, summary="Erase for good")
def confirm(
    request: HttpRequest, erasure_id: UUID, payload: schemas.ErasureConfirmation
) -> Status[dict[str, Any]]:
    """Erase what was found. It cannot be undone; the `reason` stays in the project's log."""
    who = caller(request, "admin")
    confirmed = commands.confirm(erasure_of(who.project, erasure_id), reason=payload.reason, by=who.by)
    return Status(202, erasure_json(done_or_enqueued(confirmed)))


def _with_first(erasure: Erasure) -> dict[str, Any]:
    """The erasure, and the first places of which something would go, as they would read; they are kept nowhere."""
    first = [asdict(each) for each in sample_of(erasure)]
    return erasure_json(erasure) | ({"first": first} if first else {})


def done_or_enqueued(erasure: Erasure) -> Erasure:
    """The erasure after what is next of it was done, where that is quick; else it is enqueued."""
    if commands.fits_in_a_request(erasure):
        return commands.work(erasure.id) or erasure
    enqueue(run_erasure, erasure.id)
    return erasure
