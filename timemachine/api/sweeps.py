"""Sweeps over HTTP: a grid of retrieval settings over a session, measured in the background."""

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging, routers
from timemachine.api.access import caller
from timemachine.api.paging import checked_limit, typed_page
from timemachine.api.paging import read as read_place
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.sweeps import commands
from timemachine.replay.sweeps.queries import sweep_of, sweeps_of
from timemachine.replay.sweeps.schemas import SweepIn, SweepLaunched, SweepOut, SweepPage
from timemachine.replay.tasks import run_sweep

router = Router(tags=["sweeps"])


@routers.sessions.post(
    "/{session_id}/sweeps", tags=["sweeps"], response={202: SweepLaunched}, summary="Launch a sweep"
)
def launch(request: HttpRequest, session_id: str, payload: SweepIn) -> Status[SweepLaunched]:
    """Measure every setting of a grid over the session's finds and asks; follow it at /api/sweeps/{id}."""
    who = caller(request, "run")
    sweep = commands.launch(session_of(who.project, session_id), payload, by=who.by)
    enqueue(run_sweep, sweep.id)
    return Status(202, SweepLaunched.model_construct(sweep_id=str(sweep.id)))


@routers.sessions.get(
    "/{session_id}/sweeps", tags=["sweeps"], response=SweepPage, summary="The sweeps of a session"
)
def index(request: HttpRequest, session_id: str, limit: int = 50, after: str | None = None) -> SweepPage:
    """The sweeps of the session, newest first."""
    found = sweeps_of(session_of(caller(request, "read").project, session_id)).prefetch_related("rows")
    if after is not None:
        found = found.filter(id__lt=read_place(after, paging.identity))
    rows = list(found[: checked_limit(limit) + 1])
    return typed_page(SweepPage, rows, limit, lambda each: [str(each.id)], SweepOut.of)


@router.get("/{sweep_id}", response=SweepOut, summary="One sweep")
def read(request: HttpRequest, sweep_id: str) -> SweepOut:
    """How far a sweep is, and the result of each setting."""
    return SweepOut.of(sweep_of(caller(request, "read").project, sweep_id))


@router.post("/{sweep_id}/cancel", response=SweepOut, summary="Cancel a sweep")
def cancel(request: HttpRequest, sweep_id: str) -> SweepOut:
    """Stop a sweep; what was measured stays."""
    return SweepOut.of(commands.cancel(sweep_of(caller(request, "run").project, sweep_id)))
