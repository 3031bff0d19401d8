"""Reading replays: their counts, their steps, from the project that asks."""

from collections import Counter
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Prefetch, Q, QuerySet, Sum

from timemachine.accounts.models import Project
from timemachine.base.errors import NotFound
from timemachine.recording.models import Action, Session
from timemachine.replay.models import Replay, ReplayAttempt, ReplayHit, ReplayStep
from timemachine.replay.summary import Tally, by_name


def replay_of(project: Project, replay_id: str | UUID) -> Replay:
    """The project's replay of that id. Raises `NotFound`, the same for another project's."""
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
    """The session's replays, newest first."""
    return Replay.objects.filter(session=session).order_by("-created_at")


def steps_of(replay: Replay) -> QuerySet[ReplayStep]:
    """The replay's steps in the order of the recording, with what they came to and what was recorded."""
    hits = Prefetch("hits", ReplayHit.objects.select_related("payload").order_by("rank"))
    return (
        ReplayStep.objects.filter(replay=replay)
        .select_related("action__input", "action__output", "output")
        .prefetch_related(hits, "attempts")
        .order_by("sequence")
    )


def step_of(replay: Replay, sequence: int) -> ReplayStep:
    """The replay's step at that sequence. Raises `NotFound`."""
    found = steps_of(replay).filter(sequence=sequence).first() if 0 < sequence < 2**62 else None
    if found is None:
        raise NotFound(f"This replay has no step {sequence}.", code="step_not_found", sequence=sequence)
    return found


def tally(replay: Replay) -> Tally:
    """The replay counted. Three queries."""
    steps = ReplayStep.objects.filter(replay=replay)
    rows = list(steps.values("status", "context", "verdict", "retrieval__verdict", "model", "kind"))
    money = steps.aggregate(
        cost=Sum("cost_usd"), unknown=Count("id", filter=Q(model__isnull=False, cost_usd=None))
    )
    asked = steps.filter(Q(model__isnull=False) | Q(verdict="error"), kind="ask")
    recorded = Action.objects.filter(id__in=asked.values("action_id"), model__isnull=False).aggregate(
        cost=Sum("cost_usd"), unknown=Count("id", filter=Q(cost_usd=None))
    )
    return Tally(
        kind=replay.kind,
        status=replay.status,
        model=replay.model,
        statuses=Counter(row["status"] for row in rows),
        asked=sum(1 for row in rows if row["kind"] == "ask" and (row["model"] or row["verdict"] == "error")),
        contexts=by_name(Counter(row["context"] for row in rows)),
        verdicts=by_name(Counter(row["verdict"] for row in rows)),
        retrievals=by_name(Counter(row["retrieval__verdict"] for row in rows)),
        cost_usd=money["cost"] or Decimal(0),
        unknown_cost_calls=money["unknown"],
        recorded_cost_usd=recorded["cost"] or Decimal(0),
        recorded_unknown_cost_calls=recorded["unknown"],
        uncertain_calls=_uncertain(replay),
    )


def _uncertain(replay: Replay) -> int:
    lost = ReplayAttempt.objects.filter(step__replay=replay, outcome="lost", call_intended_at__isnull=False)
    return lost.filter(calls_made=None).count()
