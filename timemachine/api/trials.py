"""One step, one change, over HTTP: try a find or ask again, list what was tried."""

from typing import Any

from django.http import HttpRequest
from ninja import Status

from timemachine.api import paging, routers
from timemachine.api.access import caller
from timemachine.api.paging import checked_limit, page
from timemachine.api.paging import read as read_place
from timemachine.jobs import ring
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.runs.document import replay_json
from timemachine.replay.runs.queries import tallies, trials_of
from timemachine.replay.runs.schemas import TrialIn
from timemachine.replay.runs.trials import step_to_try, try_step


@routers.sessions.post(
    "/{session_id}/actions/{sequence}/trials",
    tags=["replays"],
    response={202: dict[str, Any]},
    summary="Try one step with a change",
)
def try_again(
    request: HttpRequest, session_id: str, sequence: int, payload: TrialIn
) -> Status[dict[str, Any]]:
    """Make this find or ask again with something changed, in the background; follow it at /api/replays/{id}."""
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    replay = try_step(session, payload.options(sequence), by=who.by)
    ring(replay.id)
    return Status(202, {"replay_id": str(replay.id)})


@routers.sessions.get(
    "/{session_id}/actions/{sequence}/trials", tags=["replays"], summary="The trials of one step"
)
def trials(
    request: HttpRequest, session_id: str, sequence: int, limit: int = 50, after: str | None = None
) -> dict[str, Any]:
    """What was tried at this step, newest first, each a replay of it."""
    session = session_of(caller(request, "read").project, session_id)
    found = trials_of(session, step_to_try(session, sequence).sequence)
    if after is not None:
        found = found.filter(replay_id__lt=read_place(after, paging.identity))
    rows = [each.replay for each in found[: checked_limit(limit) + 1]]
    counts = tallies(rows)
    return page(rows, limit, lambda each: [str(each.id)], lambda each: replay_json(each, counts[each.id]))
