"""Queries for a project's replays, their counts and their steps."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    Max,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Sum,
)
from django.db.models.functions import Left

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.recording.sessions.models import Hit, Session
from timemachine.replay.runs import frozen
from timemachine.replay.runs.costs import NO_SPENDING, Spending, spending_by
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayHit, ReplayStep
from timemachine.replay.runs.pure.engine import uses_own_passages
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.pure.summary import Failure, Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """The recorded cost of a number of asks."""

    asks: int = 0
    spent: Spending = NO_SPENDING


MESSAGE_SHOWN: Final = 300
_CALLED: Final = Q(Exists(ReplayAttempt.objects.filter(step=OuterRef("pk"), calls_made__gt=0)))
_WAS_ASKED = ExpressionWrapper(
    Q(kind="ask") & (Q(model__isnull=False) | Q(verdict="error")), output_field=BooleanField()
)


def replay_of(project: Project, replay_id: str | UUID) -> Replay:
    """Return the project's replay with that id. Raises `NotFound`, also for another project's."""
    try:
        wanted = UUID(str(replay_id))
    except ValueError:
        wanted = None
    found = (
        Replay.objects.filter(project=project, id=wanted).select_related("session").first()
        if wanted
        else None
    )
    if found is None:
        raise NotFound(
            f"There is no replay {str(replay_id)[:60]!r} in this project.", code="replay_not_found"
        )
    return found


def replays_of(session: Session) -> QuerySet[Replay]:
    """Return the session's replays, newest first."""
    return Replay.objects.filter(session=session).order_by("-created_at")


def trials_of(session: Session, sequence: int) -> QuerySet[ReplayStep]:
    """Return the trials of one step of the session, newest first: the single step of each, with its replay."""
    trials = ReplayStep.objects.filter(replay__session=session, replay__kind="trial", sequence=sequence)
    return trials.select_related("replay").order_by("-replay__id")  # a UUIDv7 begins with its time


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


def passages_of(step: ReplayStep) -> list[Hit] | list[ReplayHit] | None:
    """Return the passages of a replayed step: those it found or was given, even if there are none; otherwise the frozen ones.

    None if it failed before it had its own.
    """
    if step.retrieval is not None:
        return list(step.hits.all())
    if step.status == "failed" and uses_own_passages(step.kind, ReplayOptions(**step.replay.options)):
        return None
    return frozen.hits_of(step.action)


def step_rows(replay: Replay) -> QuerySet[ReplayStep]:
    """Return the replay's steps for a list, without payloads."""
    return ReplayStep.objects.filter(replay=replay).select_related("action").order_by("sequence")


def tally(replay: Replay) -> Tally:
    """Return the replay's counts."""
    return tallies([replay])[replay.id]


def tallies(replays: Sequence[Replay]) -> dict[UUID, Tally]:
    """Return the counts of each replay. Three queries, four if steps failed; the database does the adding."""
    ids = [replay.id for replay in replays]
    counted = _counted_steps(ids)
    spent = spending_by("step__replay_id", ReplayAttempt.objects.filter(step__replay__in=ids))
    recorded = _recorded(ids)
    failed = [each for each, groups in counted.items() if any(row["status"] == "failed" for row in groups)]
    failures = (
        most_frequent_failures(ReplayStep.objects.filter(replay__in=failed), "replay_id") if failed else {}
    )
    return {
        replay.id: _tally(
            replay,
            counted.get(replay.id, []),
            spent.get(replay.id, NO_SPENDING),
            recorded.get(replay.id, _Recorded()),
            failures.get(replay.id),
        )
        for replay in replays
    }


def most_frequent_failures(steps: QuerySet[ReplayStep], owner: str) -> dict[UUID, Failure]:
    """Return the most frequent error of each owner's steps (a replay, or a run of a suite), for those with a failed step."""
    said = Left("error_message", MESSAGE_SHOWN, output_field=FaithfulTextField())
    failed = steps.filter(status="failed", error_message__isnull=False).annotate(said=said)
    rows = failed.order_by().values(owner, "said").annotate(steps=Count("id")).order_by("-steps", "said")
    found: dict[UUID, Failure] = {}
    for row in rows:
        found.setdefault(row[owner], Failure(message=row["said"], steps=row["steps"]))
    return found


def _tally(
    replay: Replay,
    groups: list[dict[str, Any]],
    spent: Spending,
    recorded: _Recorded,
    failure: Failure | None,
) -> Tally:
    return Tally(
        kind=replay.kind,
        status=replay.status,
        model=replay.model,
        statuses=_by(groups, "status"),
        asked=sum(group["steps"] for group in groups if group["was_asked"]),
        contexts=_by(groups, "context"),
        verdicts=_by(groups, "verdict"),
        retrievals=_by(groups, "retrieval__verdict"),
        cost_usd=spent.cost_usd,
        unknown_cost_calls=spent.unknown_calls,
        recorded_cost_usd=recorded.spent.cost_usd,
        recorded_unknown_cost_calls=recorded.spent.unknown_calls,
        uncertain_calls=spent.uncertain_calls,
        called=recorded.asks,
        failure=failure,
        cut_off=sum(group["cut_off"] for group in groups),
        spend_limit_usd=_own_limit(replay),
        waiting=sum(group["waiting"] for group in groups),
        waits_until=max((group["waits_until"] for group in groups if group["waits_until"]), default=None),
    )


def _own_limit(replay: Replay) -> Decimal | None:
    limit = replay.options.get("spend_limit_usd")
    return None if limit is None or replay.spend_group is not None else Decimal(str(limit))


def _by(groups: list[dict[str, Any]], field: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    for group in groups:
        if group[field] is not None:
            found[group[field]] += group["steps"]
    return dict(found)


def _counted_steps(ids: Sequence[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    fields = ("replay_id", "status", "context", "verdict", "retrieval__verdict", "was_asked")
    steps = ReplayStep.objects.filter(replay__in=ids).annotate(was_asked=_WAS_ASKED)
    found: dict[UUID, list[dict[str, Any]]] = {}
    cut_off = Count("id", filter=Q(evidence__has_key="cut_off"))
    waits = Q(status="running", asked_again_at__gt=now())
    counts = {
        "steps": Count("id"),
        "cut_off": cut_off,
        "waiting": Count("id", filter=waits),
        "waits_until": Max("asked_again_at", filter=waits),
    }
    for row in steps.order_by().values(*fields).annotate(**counts):
        found.setdefault(row["replay_id"], []).append(row)
    return found


def _recorded(ids: Sequence[UUID]) -> dict[UUID, _Recorded]:
    """Return the recorded cost of the asks that were asked again or whose call was cancelled."""
    steps = ReplayStep.objects.annotate(was_asked=_WAS_ASKED).filter(replay__in=ids, kind="ask")
    steps = steps.filter(Q(was_asked=True) | _CALLED)
    rows = (
        steps.order_by()
        .values("replay_id")
        .annotate(
            cost=Sum("action__cost_usd", default=Decimal(0)),
            unknown=Count("id", filter=Q(action__cost_usd=None)),
            asks=Count("id"),
        )
    )
    return {
        row["replay_id"]: _Recorded(
            asks=row["asks"], spent=Spending(cost_usd=row["cost"], unknown_calls=row["unknown"])
        )
        for row in rows
    }
