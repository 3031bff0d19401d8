"""Replays over HTTP: launch, follow, cancel, retry, read step by step; trials of one step; ranks of frames."""

from collections.abc import Sequence
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from timemachine.api import paging
from timemachine.api.access import Caller, caller
from timemachine.api.comparisons import launched
from timemachine.api.sessions import router as sessions_router
from timemachine.core.pure.errors import InvalidInput
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import checkpoint_of, session_of
from timemachine.replay.comparison.commands import Plan
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.comparison.schemas import ComparisonLaunched
from timemachine.replay.continuation import commands as continuations
from timemachine.replay.continuation.schemas import ContinueIn, GoOnIn
from timemachine.replay.runs import commands
from timemachine.replay.runs.estimate import estimate_launch
from timemachine.replay.runs.frame_rank_schemas import RankPageOut
from timemachine.replay.runs.frame_ranks import MOST_STEPS, rank_page
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import CALL_OPTIONS, check
from timemachine.replay.runs.queries import replay_of, size_of_replay_step, step_of, steps_of, trials_of
from timemachine.replay.runs.schemas import (
    Estimates,
    ReplayIn,
    ReplayLaunched,
    ReplayOut,
    ReplayPage,
    TrialIn,
)
from timemachine.replay.runs.step_schemas import ReplayStepOut, ReplayStepPage
from timemachine.replay.runs.tallies import tallies
from timemachine.replay.runs.trials import step_to_try, try_step
from timemachine.replay.sweeps import commands as sweep_commands
from timemachine.replay.sweeps.queries import sweep_of, sweeps_of
from timemachine.replay.sweeps.schemas import SweepIn, SweepLaunched, SweepOut, SweepPage
from timemachine.replay.tasks import run_replay, run_sweep

router = Router(tags=["replays"])
TRIALS = "/{session_id}/actions/{sequence}/trials"
NOT_COMPARED = ("skip_asks", "after_sequence", "through_sequence", "step", "question", "frames")


@sessions_router.post(
    "/{session_id}/replays",
    tags=["replays"],
    response={202: ReplayLaunched | ComparisonLaunched},
    summary="Launch a replay",
)
def launch(
    request: HttpRequest, session_id: str, payload: ReplayIn
) -> Status[ReplayLaunched] | Status[ComparisonLaunched]:
    """Replay the session in the background. Follow it at /api/replays/{id}. Several models make a comparison of audit replays."""
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    if len(payload.use_models) > 1:
        return _comparison(who, session, payload)
    model = payload.use_models[0] if payload.use_models else None
    options = payload.options(model=model, after_sequence=_after(session, payload.from_checkpoint))
    replay = commands.launch(session, options, by=who.by)
    enqueue(run_replay, replay.id)
    return Status(202, ReplayLaunched.model_construct(replay_id=str(replay.id)))


@sessions_router.post(
    "/{session_id}/replays/estimate",
    tags=["replays"],
    response=Estimates,
    summary="Estimate the cost of a replay",
)
def estimate(request: HttpRequest, session_id: str, payload: ReplayIn) -> Estimates:
    """The estimated cost of the replay that the same request would launch, for each of its models, or its refusal. No model is called."""
    session = session_of(caller(request, "run").project, session_id)
    after = _after(session, payload.from_checkpoint)
    models: list[str | None] = [*payload.use_models] or [None]
    found = estimate_launch(session, [payload.options(model=each, after_sequence=after) for each in models])
    return Estimates.model_construct(estimates=found)


@router.get("", response=ReplayPage, summary="List replays")
def index(
    request: HttpRequest, session: str | None = None, limit: int = 50, after: str | None = None
) -> ReplayPage:
    """The replays of a session, or of the whole project, newest first."""
    project = caller(request, "read").project
    found = Replay.objects.filter(project=project).order_by("-id")  # a UUIDv7 begins with its time
    if session is not None:
        found = found.filter(session=session_of(project, session))
    return _page(*paging.ordered_rows(found, limit, after))


@router.get("/{replay_id}", response=ReplayOut, summary="One replay")
def read(request: HttpRequest, replay_id: str) -> ReplayOut:
    """How far a replay is, and its results so far."""
    return ReplayOut.of(replay_of(caller(request, "read").project, replay_id))


@router.get("/{replay_id}/steps", response=ReplayStepPage, by_alias=True, summary="A replay's steps")
def steps(
    request: HttpRequest, replay_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> ReplayStepPage:
    """The steps in the order of the recording."""
    found = steps_of(replay_of(caller(request, "read").project, replay_id))
    rows, following = paging.sized_rows(found, limit, after, "sequence", size_of_replay_step())
    return ReplayStepPage.model_construct(items=[ReplayStepOut.of(each) for each in rows], next=following)


@router.get(
    "/{replay_id}/steps/{sequence}",
    response=ReplayStepOut,
    by_alias=True,
    summary="One step of a replay",
)
def step(request: HttpRequest, replay_id: str, sequence: int) -> ReplayStepOut:
    """One step with all its fields."""
    return ReplayStepOut.of(step_of(replay_of(caller(request, "read").project, replay_id), sequence))


@router.post("/{replay_id}/cancel", response=ReplayOut, summary="Cancel a replay")
def cancel(request: HttpRequest, replay_id: str) -> ReplayOut:
    """Stop a replay. Waiting steps do not start; running calls end within a few seconds and may have been billed."""
    who = caller(request, "run")
    return ReplayOut.of(commands.cancel(replay_of(who.project, replay_id), by=who.by))


@router.post("/{replay_id}/retry", response={202: ReplayOut}, summary="Retry failed steps")
def retry(request: HttpRequest, replay_id: str) -> Status[ReplayOut]:
    """Run the failed and cancelled steps of a finished replay again."""
    replay = commands.retry(replay_of(caller(request, "run").project, replay_id))
    enqueue(run_replay, replay.id)
    return Status(202, ReplayOut.of(replay))


@sessions_router.post(
    TRIALS, tags=["replays"], response={202: ReplayLaunched}, summary="Try one step with a change"
)
def try_again(
    request: HttpRequest, session_id: str, sequence: int, payload: TrialIn
) -> Status[ReplayLaunched]:
    """Run this find or ask again with a change, in the background. Follow it at /api/replays/{id}."""
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    replay = try_step(session, payload.options(sequence), by=who.by)
    enqueue(run_replay, replay.id)
    return Status(202, ReplayLaunched.model_construct(replay_id=str(replay.id)))


@sessions_router.get(TRIALS, tags=["replays"], response=ReplayPage, summary="List the trials of one step")
def trials(
    request: HttpRequest,
    session_id: str,
    sequence: int,
    limit: int = paging.DEFAULT,
    after: str | None = None,
) -> ReplayPage:
    """The trials of this step, newest first, each a replay of it."""
    session = session_of(caller(request, "read").project, session_id)
    found = trials_of(session, step_to_try(session, sequence).sequence)
    rows, following = paging.ordered_rows(found, limit, after, "-replay_id")
    return _page([each.replay for each in rows], following)


@sessions_router.get(
    "/{session_id}/where",
    tags=["replays"],
    response=RankPageOut,
    summary="The rank of a frame",
)
def where_is_it(
    request: HttpRequest,
    session_id: str,
    frame: Annotated[int | None, Query(), Field(ge=0, lt=2**62)] = None,
    text: str = "",
    after: Annotated[int, Query(), Field(ge=0, lt=2**62)] = 0,
    limit: Annotated[int, Query(), Field(ge=1, le=MOST_STEPS)] = MOST_STEPS,
) -> RankPageOut:
    """The rank of a frame (by number), or of the frames that contain a sentence, in every mode, as recorded and now."""
    session = session_of(caller(request, "read").project, session_id)
    return rank_page(session, frame=frame, text=text, after=after, limit=limit)


def _page(rows: Sequence[Replay], following: str | None) -> ReplayPage:
    counts = tallies(rows)
    shown = [ReplayOut.of(each, counts[each.id]) for each in rows]
    return ReplayPage.model_construct(items=shown, next=following)


def _after(session: Session, name: int | str | None) -> int | None:
    return None if name is None else checkpoint_of(session, name).sequence


def _comparison(who: Caller, session: Session, payload: ReplayIn) -> Status[ComparisonLaunched]:
    """Compare the models on the session's asks over the frozen context; only options that every arm can share are used."""
    options = payload.options(model=None, after_sequence=_after(session, payload.from_checkpoint))
    refused = [name for name in NOT_COMPARED if getattr(options, name)]
    if refused:
        raise InvalidInput(
            f"Several models are compared over all asks of a session, so {', '.join(f'`{each}`' for each in refused)} cannot be combined with "
            "them. Leave it out or replay with one model.",
            code="not_compared",
            options=refused,
        )
    arms = [
        Variant(model=model, **options.model_dump(include=set(CALL_OPTIONS))) for model in payload.use_models
    ]
    check(options.model_copy(update={"audit": True, "use_model": arms[0].model}))
    plan = Plan(sessions=[session], arms=arms, reason=options.reason, spend_limit_usd=options.spend_limit_usd)
    return launched(who.project, plan, who.by)


sweeps = Router(tags=["sweeps"])


@sessions_router.post(
    "/{session_id}/sweeps", tags=["sweeps"], response={202: SweepLaunched}, summary="Launch a sweep"
)
def launch_sweep(request: HttpRequest, session_id: str, payload: SweepIn) -> Status[SweepLaunched]:
    """Measure every setting of a grid over the session's finds and asks; follow it at /api/sweeps/{id}."""
    who = caller(request, "run")
    sweep = sweep_commands.launch(session_of(who.project, session_id), payload, by=who.by)
    enqueue(run_sweep, sweep.id)
    return Status(202, SweepLaunched.model_construct(sweep_id=str(sweep.id)))


@sessions_router.get(
    "/{session_id}/sweeps", tags=["sweeps"], response=SweepPage, summary="List a session's sweeps"
)
def list_sweeps(
    request: HttpRequest, session_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> SweepPage:
    """The sweeps of the session, newest first."""
    found = sweeps_of(session_of(caller(request, "read").project, session_id)).prefetch_related("rows")
    rows, following = paging.ordered_rows(found, limit, after)
    return SweepPage.model_construct(items=[SweepOut.of(each) for each in rows], next=following)


@sweeps.get("/{sweep_id}", response=SweepOut, summary="One sweep")
def read_sweep(request: HttpRequest, sweep_id: str) -> SweepOut:
    """How far a sweep is, and the result of each setting."""
    return SweepOut.of(sweep_of(caller(request, "read").project, sweep_id))


@sweeps.post("/{sweep_id}/cancel", response=SweepOut, summary="Cancel a sweep")
def cancel_sweep(request: HttpRequest, sweep_id: str) -> SweepOut:
    """Stop a sweep. What was measured stays."""
    return SweepOut.of(sweep_commands.cancel(sweep_of(caller(request, "run").project, sweep_id)))


@sessions_router.post(
    "/{session_id}/continue",
    tags=["replays"],
    response={202: ReplayLaunched},
    summary="Continue from a model call",
)
def go_on_from_call(request: HttpRequest, session_id: str, payload: ContinueIn) -> Status[ReplayLaunched]:
    """Continue the session from this model call in the background. Follow it at /api/replays/{id}. Tool calls are answered from the record and never executed. The result names the branch session."""
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    replay = continuations.launch(session, payload.options(), by=who.by)
    enqueue(run_replay, replay.id)
    return Status(202, ReplayLaunched.model_construct(replay_id=str(replay.id)))


@router.post(
    "/{replay_id}/continue",
    response={202: ReplayLaunched},
    summary="Resume a continuation",
)
def go_on(request: HttpRequest, replay_id: str, payload: GoOnIn) -> Status[ReplayLaunched]:
    """Supply the results that the record does not have, the user's next message or a higher limit, and resume the continuation in the same branch."""
    who = caller(request, "run")
    replay = continuations.go_on(
        replay_of(who.project, replay_id),
        [each.supplied() for each in payload.results],
        by=who.by,
        message=payload.next_message(),
        max_calls=payload.max_calls,
        spend_limit_usd=payload.spend_limit_usd,
    )
    enqueue(run_replay, replay.id)
    return Status(202, ReplayLaunched.model_construct(replay_id=str(replay.id)))
