"""Replays over HTTP: launch, follow, cancel, try again, read step by step."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import paging, routers, sizes
from timemachine.api.access import Caller, caller
from timemachine.api.comparisons import launched
from timemachine.api.paging import checked_limit, page, sized_page
from timemachine.api.paging import read as read_place
from timemachine.core.pure.errors import InvalidInput
from timemachine.jobs import ring
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import checkpoint_of, session_of
from timemachine.replay.comparison.commands import Plan
from timemachine.replay.comparison.pure.variants import Arm
from timemachine.replay.runs import commands
from timemachine.replay.runs.document import replay_json, step_json
from timemachine.replay.runs.estimate import estimate_json, estimated
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import CALL_OPTIONS, check
from timemachine.replay.runs.queries import replay_of, step_of, steps_of, tallies
from timemachine.replay.runs.schemas import ReplayIn

router = Router(tags=["replays"])
NOT_COMPARED = ("skip_asks", "after_sequence", "through_sequence", "step", "question", "frames")


@routers.sessions.post(
    "/{session_id}/replays", tags=["replays"], response={202: dict[str, Any]}, summary="Launch a replay"
)
def launch(request: HttpRequest, session_id: str, payload: ReplayIn) -> Status[dict[str, Any]]:
    """Replay the session in the background; follow it at /api/replays/{id}. Several models make a comparison of audit replays."""
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    if len(payload.use_models) > 1:
        return _comparison(who, session, payload)
    model = payload.use_models[0] if payload.use_models else None
    options = payload.options(model=model, after_sequence=_after(session, payload.from_checkpoint))
    replay = commands.launch(session, options, by=who.by)
    ring(replay.id)
    return Status(202, {"replay_id": str(replay.id)})


@routers.sessions.post("/{session_id}/replays/estimate", tags=["replays"], summary="What a replay would cost")
def estimate(request: HttpRequest, session_id: str, payload: ReplayIn) -> dict[str, Any]:
    """About what the same request would cost if it launched a replay, for each of its models; nobody is asked."""
    session = session_of(caller(request, "run").project, session_id)
    after = _after(session, payload.from_checkpoint)
    models: list[str | None] = [*payload.use_models] or [None]
    found = estimated([session], [payload.options(model=each, after_sequence=after) for each in models])
    return {"estimates": [estimate_json(each) for each in found]}


@router.get("", summary="List replays")
def index(
    request: HttpRequest, session: str | None = None, limit: int = 50, after: str | None = None
) -> dict[str, Any]:
    """The replays of a session, or of the whole project, newest first."""
    project = caller(request, "read").project
    found = Replay.objects.filter(project=project).order_by("-id")  # a UUIDv7 begins with its time
    if session is not None:
        found = found.filter(session=session_of(project, session))
    if after is not None:
        found = found.filter(id__lt=read_place(after, paging.identity))
    rows = list(found[: checked_limit(limit) + 1])
    counts = tallies(rows)
    return page(rows, limit, lambda each: [str(each.id)], lambda each: replay_json(each, counts[each.id]))


@router.get("/{replay_id}", summary="One replay")
def read(request: HttpRequest, replay_id: str) -> dict[str, Any]:
    """How far a replay is and what it came to so far."""
    return replay_json(replay_of(caller(request, "read").project, replay_id))


@router.get("/{replay_id}/steps", summary="A replay's steps")
def steps(request: HttpRequest, replay_id: str, limit: int = 50, after: str | None = None) -> dict[str, Any]:
    """The steps in the order of the recording."""
    found = steps_of(replay_of(caller(request, "read").project, replay_id))
    if after is not None:
        found = found.filter(sequence__gt=read_place(after, paging.number))
    return sized_page(found, limit, "sequence", sizes.of_replay_step(), step_json)


@router.get("/{replay_id}/steps/{sequence}", summary="One step of a replay")
def step(request: HttpRequest, replay_id: str, sequence: int) -> dict[str, Any]:
    """One step, whole."""
    return step_json(step_of(replay_of(caller(request, "read").project, replay_id), sequence))


@router.post("/{replay_id}/cancel", summary="Cancel a replay")
def cancel(request: HttpRequest, replay_id: str) -> dict[str, Any]:
    """Stop a replay: what waits is not begun, and calls under way are ended within some seconds; these may have been billed."""
    who = caller(request, "run")
    return replay_json(commands.cancel(replay_of(who.project, replay_id), by=who.by))


@router.post("/{replay_id}/retry", response={202: dict[str, Any]}, summary="Try failed steps again")
def retry(request: HttpRequest, replay_id: str) -> Status[dict[str, Any]]:
    """Run the failed and cancelled steps of a finished replay again."""
    replay = commands.retry(replay_of(caller(request, "run").project, replay_id))
    ring(replay.id)
    return Status(202, replay_json(replay))


def _after(session: Session, name: int | str | None) -> int | None:
    return None if name is None else checkpoint_of(session, name).sequence


def _comparison(who: Caller, session: Session, payload: ReplayIn) -> Status[dict[str, Any]]:
    """The session's asks with each of the models, over the frozen context: only what every arm can share goes with it."""
    options = payload.options(model=None, after_sequence=_after(session, payload.from_checkpoint))
    refused = [name for name in NOT_COMPARED if getattr(options, name)]
    if refused:
        raise InvalidInput(
            f"Several models are compared over all asks of a session, so {', '.join(f'`{each}`' for each in refused)} cannot go with "
            "them; leave it out, or replay with one model.",
            code="not_compared",
            options=refused,
        )
    arms = [Arm(model=model, **options.model_dump(include=set(CALL_OPTIONS))) for model in payload.use_models]
    check(options.model_copy(update={"audit": True, "use_model": arms[0].model}))
    plan = Plan(sessions=[session], arms=arms, reason=options.reason, spend_limit_usd=options.spend_limit_usd)
    return launched(who.project, plan, who.by)
