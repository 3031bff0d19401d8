"""Queries for a project's replays and their steps."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import (
    Count,
    Expression,
    F,
    Max,
    Min,
    Prefetch,
    Q,
    QuerySet,
    Value,
)

from timemachine.core.accounts.models import Project
from timemachine.core.database import row_of
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.verdicts import verdict_in_words
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.payload_sizes import size_of_passages, size_of_payloads
from timemachine.recording.sessions.prepared_rows import columns, rows_of
from timemachine.replay.runs import frozen
from timemachine.replay.runs.models import Replay, ReplayHit, ReplayStep
from timemachine.replay.runs.pure.engine import uses_own_passages
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.pure.statuses import OPEN_REPLAY_STATUSES, TERMINAL_STEP_STATUSES
from timemachine.replay.runs.pure.summary import UNVERIFIABLE

SHOWN_TRIALS: Final = 20
_TAKEN_WITHIN: Final = timedelta(seconds=5)
VERDICT: Final = ("verdict", "evidence__only_recorded", "evidence__only_new")
"""The columns of a step from which `verdict_words` makes words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a replay. `skipped` of the steps that are `done` were not asked because of the spend limit. `reached` is
    the last finished step, None before the first."""

    replay: Replay
    done: int
    total: int
    failed: int
    skipped: int
    reached: int | None
    unverified: int = 0

    @property
    def is_unverified(self) -> bool:
        """Return whether this is an audit that could verify nothing so far."""
        return self.replay.kind == "audit" and 0 < self.done == self.unverified

    @property
    def is_open(self) -> bool:
        return self.replay.status in OPEN_REPLAY_STATUSES


def waits_for(replay: Replay) -> str | None:
    """Return what a replay waits for, as a sentence; None if it does not wait or was queued a moment ago."""
    if replay.status == "running":
        return _waits_for_provider(replay)
    if replay.status != "queued" or now() - replay.created_at < _TAKEN_WITHIN:
        return None
    if not ReplayStep.objects.filter(status="running", lease_until__gt=now()).exists():
        return "No worker has taken it yet. Check that a worker is running."
    earlier = Replay.objects.filter(
        project=replay.project_id, status__in=OPEN_REPLAY_STATUSES, created_at__lt=replay.created_at
    )
    if before := earlier.count():
        return f"It waits for {counted(before, 'replay')} launched before it."
    return "The workers are busy with other replays."


def _waits_for_provider(replay: Replay) -> str | None:
    """Return which providers have no free call for this replay, None if one has or a step of it is running."""
    running = ReplayStep.objects.filter(status="running", lease_until__gte=now())
    waiting = set(replay.steps.filter(status="waiting").values_list("provider", flat=True).distinct())
    if not waiting or None in waiting or running.filter(replay=replay).exists():
        return None
    calls = running.filter(provider__in=waiting).order_by().values_list("provider").annotate(Count("id"))
    if any(dict(calls).get(provider, 0) < settings.MODEL_CALLS_AT_ONCE for provider in waiting):
        return None
    most = counted(settings.MODEL_CALLS_AT_ONCE, "call")
    names = " and ".join(sorted(map(str, waiting)))
    get = "gets" if len(waiting) == 1 else "each get"
    return f"It waits for other replays: {names} {get} at most {most} at the same time (MODEL_CALLS_AT_ONCE)."


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """The state of a step in a replay: its status, and its verdicts on the answer, the retrieval and the context, if any."""

    sequence: int
    status: str
    verdict: str | None
    retrieval: str | None
    context: str | None


def replay_of(project: Project, replay_id: str | UUID) -> Replay:
    """Return the project's replay with that id. Raises `NotFound`, also for another project's."""
    missing = NotFound(
        f"There is no replay {str(replay_id)[:60]!r} in this project.", code="replay_not_found"
    )
    return row_of(Replay.objects.filter(project=project).select_related("session"), replay_id, missing)


def began_at(replays: QuerySet[Replay]) -> datetime | None:
    """Return when the first step of these replays was taken, None if none was yet. One query."""
    found: datetime | None = replays.aggregate(began=Min("started_at"))["began"]
    return found


def replays_in(project: Project) -> QuerySet[Replay]:
    """Return the project's replays with their sessions, newest first."""
    return Replay.objects.filter(project=project).select_related("session").order_by("-id")


def replays_of(session: Session) -> QuerySet[Replay]:
    """Return the session's replays, newest first."""
    return Replay.objects.filter(session=session).order_by("-created_at")


def independent(replays: QuerySet[Replay]) -> QuerySet[Replay]:
    """Return those replays that belong to no comparison or suite run."""
    return replays.filter(run=None, suite_replay=None)


def trials_of(session: Session, sequence: int) -> QuerySet[ReplayStep]:
    """Return the trials of one step of the session, newest first: the single step of each, with its replay."""
    trials = ReplayStep.objects.filter(replay__session=session, replay__kind="trial", sequence=sequence)
    return trials.select_related("replay").order_by("-replay__id")  # a UUIDv7 begins with its time


def newest_trials(session: Session, sequence: int) -> list[ReplayStep]:
    """Return the newest `SHOWN_TRIALS` trials of one step of the session. One query."""
    facts = {"session": session.id, "sequence": sequence, "most": SHOWN_TRIALS}
    return list(rows_of(ReplayStep, _newest_trials_sql(), facts, "replay"))


@cache
def _newest_trials_sql() -> str:
    return f"""
        SELECT {columns(ReplayStep, "step")}, {columns(Replay, "replay")}
        FROM tm_replay replay JOIN tm_replay_step step ON step.replay_id = replay.id
        WHERE replay.session_id = %(session)s AND replay.kind = 'trial' AND step.sequence = %(sequence)s
        ORDER BY replay.id DESC LIMIT %(most)s
    """  # noqa: S608  # only names of columns


def steps_of(replay: Replay) -> QuerySet[ReplayStep]:
    """Return the replay's steps in recorded order, with their results and what was recorded."""
    hits = Prefetch("hits", ReplayHit.objects.select_related("payload").order_by("rank"))
    return (
        ReplayStep.objects.filter(replay=replay)
        .select_related("action__input", "action__output", "output")
        .prefetch_related(hits, "attempts")
        .order_by("sequence")
    )


def step_of(replay: Replay, sequence: int) -> ReplayStep:
    """Return the replay's step at that sequence. Raises `NotFound`."""
    found = steps_of(replay).filter(sequence=sequence).first() if 0 < sequence < 2**62 else None
    if found is None:
        raise NotFound(f"This replay has no step {sequence}.", code="step_not_found", sequence=sequence)
    return found


def neighbours_of(step: ReplayStep) -> dict[str, int | None]:
    """Return the sequences of the `previous` and the `next` step of the replay; None where it has none. Two queries."""
    steps = (
        ReplayStep.objects.filter(replay=step.replay_id)
        .order_by("sequence")
        .values_list("sequence", flat=True)
    )
    return {
        "previous": steps.filter(sequence__lt=step.sequence).last(),
        "next": steps.filter(sequence__gt=step.sequence).first(),
    }


def branch_steps_of(replay: Replay) -> QuerySet[Action]:
    """Return the steps in the branch of a continuation, in order, without its events."""
    return Action.objects.filter(session=replay.branch_id).exclude(kind="event").order_by("sequence")


def passages_of(step: ReplayStep) -> list[Hit] | list[ReplayHit] | None:
    """Return the passages of a replayed step: those it found or was given, even if there are none; otherwise the frozen ones.

    None if it failed before it had its own.
    """
    if step.retrieval is not None:
        return list(step.hits.all())
    if step.status == "failed" and uses_own_passages(step.kind, ReplayOptions(**step.replay.options)):
        return None
    return frozen.hits_of(step.action)


def verdict_words(step: Mapping[str, Any]) -> str | None:
    """Return the verdict on a step in words, from its columns `VERDICT`."""
    if step["verdict"] is None:
        return None
    evidence = {name: step[f"evidence__{name}"] for name in ("only_recorded", "only_new")}
    return verdict_in_words(step["verdict"], evidence)


def step_rows(replay: Replay) -> QuerySet[ReplayStep]:
    """Return the replay's steps for a list, without payloads."""
    return ReplayStep.objects.filter(replay=replay).select_related("action").order_by("sequence")


def newest_replays(session: Session, most: int, chosen: Replay | None = None) -> list[Replay]:
    """Return the session's newest independent replays, and the chosen one in any case. One query.

    A trial is shown with its step, and what a comparison or a suite launched is shown there.
    """
    of_its_own = replays_of(session).filter(spend_group=None).exclude(kind="trial")
    found = list(of_its_own[:most])
    return [chosen, *found[: most - 1]] if chosen is not None and chosen not in found else found


def replay_named(session: Session, named: str) -> Replay | None:
    """Return the session's replay with that id; None if the session has no such replay. One query, or none if it is not an id."""
    id_ = uuid_of(named)
    return None if id_ is None else Replay.objects.filter(session=session, id=id_).first()


def progress_of(replays: Sequence[Replay]) -> list[Progress]:
    """Return the progress of each replay. One query."""
    finished = Q(status__in=TERMINAL_STEP_STATUSES)
    steps = ReplayStep.objects.filter(replay__in=replays).order_by().values_list("replay_id")
    counted = steps.annotate(
        done=Count("id", filter=finished),
        total=Count("id"),
        failed=Count("id", filter=Q(status="failed")),
        skipped=Count("id", filter=Q(status="skipped")),
        reached=Max("sequence", filter=finished),
        unverified=Count("id", filter=Q(status="done", verdict=None, context__in=UNVERIFIABLE)),
    )
    found = {replay: numbers for replay, *numbers in counted}
    progress = []
    for each in replays:
        done, total, failed, skipped, reached, unverified = found.get(each.id, (0, 0, 0, 0, None, 0))
        counts = {
            "done": done,
            "total": total,
            "failed": failed,
            "skipped": skipped,
            "unverified": unverified,
        }
        progress.append(Progress(replay=each, **counts, reached=reached))
    return progress


def states_between(replay: Replay, first: int, last: int, most: int) -> list[StepState]:
    """Return the states of a replay's steps in a range. It is cut into at most `most` stretches, and each has the first step with each
    state. One query."""
    width = -(-(last - first + 1) // most)
    of_retrieval = F("retrieval__verdict")
    steps = ReplayStep.objects.filter(replay=replay, sequence__range=(first, last)).order_by()
    states = steps.annotate(stretch=(F("sequence") - first) / Value(width), of_retrieval=of_retrieval)
    rows = states.values_list("stretch", "status", "verdict", "of_retrieval", "context")
    return [
        StepState(sequence=sequence, status=status, verdict=verdict, retrieval=retrieval, context=context)
        for _, status, verdict, retrieval, context, sequence in rows.annotate(sequence_first=Min("sequence"))
    ]


def states_of(replay: Replay, sequences: Collection[int]) -> list[StepState]:
    """Return the states of these steps in a replay, without those that it does not replay. One query."""
    steps = ReplayStep.objects.filter(replay=replay, sequence__in=sequences)
    of_retrieval = F("retrieval__verdict")
    rows = steps.order_by().values_list("sequence", "status", "verdict", of_retrieval, "context")
    return [
        StepState(sequence=sequence, status=status, verdict=verdict, retrieval=retrieval, context=context)
        for sequence, status, verdict, retrieval, context in rows
    ]


def size_of_replay_step() -> Expression:
    """Return the number of bytes of the recorded step and of the new output, each with its passages."""
    texts = size_of_payloads("action__input", "action__output", "output")
    return texts + size_of_passages(Hit, "action", "action") + size_of_passages(ReplayHit, "step")
