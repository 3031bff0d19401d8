"""Continuations over HTTP: go on from a recorded model call, and go on again with a supplied result."""

from django.http import HttpRequest
from ninja import Status

from timemachine.api.access import caller
from timemachine.api.replays import router as replays_router
from timemachine.api.sessions import router as sessions_router
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.continuation import commands
from timemachine.replay.continuation.schemas import ContinueIn, GoOnIn
from timemachine.replay.runs.queries import replay_of
from timemachine.replay.runs.schemas import ReplayLaunched
from timemachine.replay.tasks import run_replay


@sessions_router.post(
    "/{session_id}/continue",
    tags=["replays"],
    response={202: ReplayLaunched},
    summary="Go on from a model call",
)
def go_on_from_call(request: HttpRequest, session_id: str, payload: ContinueIn) -> Status[ReplayLaunched]:
    """Run the session on from this model call, in the background; follow it at /api/replays/{id}. Tool calls are answered from the record and never executed. The end names the branch session."""
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    replay = commands.launch(session, payload.options(), by=who.by)
    enqueue(run_replay, replay.id)
    return Status(202, ReplayLaunched.model_construct(replay_id=str(replay.id)))


@replays_router.post(
    "/{replay_id}/continue",
    response={202: ReplayLaunched},
    summary="Let a continuation go on",
)
def go_on(request: HttpRequest, replay_id: str, payload: GoOnIn) -> Status[ReplayLaunched]:
    """Give the results that the record does not hold, or a higher limit, and let the continuation go on in the same branch."""
    who = caller(request, "run")
    replay = commands.go_on(
        replay_of(who.project, replay_id),
        [each.supplied() for each in payload.results],
        by=who.by,
        max_calls=payload.max_calls,
        spend_limit_usd=payload.spend_limit_usd,
    )
    enqueue(run_replay, replay.id)
    return Status(202, ReplayLaunched.model_construct(replay_id=str(replay.id)))
