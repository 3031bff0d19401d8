"""The results of replays, counted: their steps by status and verdict, and their costs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
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
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Left

from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.core.pure.clock import now
from timemachine.core.pure.verdicts import NO_DIVERGENCE, NUMBERS
from timemachine.recording.model_calls.pure.requests import TOOLS
from timemachine.recording.otel.pure.kinds import EMBEDDINGS
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL, MODEL_CALLS
from timemachine.recording.sessions.queries import HAPPENED_HERE, UNKNOWN_COST
from timemachine.recording.usage.queries import reasons_in
from timemachine.replay.runs.costs import NO_SPENDING, spending_by
from timemachine.replay.runs.costs import unknown_reasons as reasons_of_attempts
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.options import CONTINUE
from timemachine.replay.runs.pure.summary import FirstDivergence, FrequentError, Tally
from timemachine.replay.runs.queries import VERDICT, independent, replays_of, verdict_words

_IS_OPPOSITE: Final = Q(verdict=NUMBERS, evidence__has_key="turned")
_HAS_NO_NEW: Final = Q(evidence__only_new=[]) | ~Q(evidence__has_key="only_new")
_IS_SHORTENED: Final = (
    Q(verdict=NUMBERS, evidence__isnull=False) & _HAS_NO_NEW & ~Q(evidence__has_key="turned")
)


@dataclass(slots=True, kw_only=True)
class _Steps:
    """The steps of a replay, counted by status and by verdict."""

    statuses: Counter[str] = field(default_factory=Counter)
    contexts: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    retrievals: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    sent: int = 0
    cut_off: int = 0
    low_grounding: int = 0
    opposite: int = 0
    shortened: int = 0
    waiting: int = 0
    waits_until: datetime | None = None


@dataclass(slots=True, kw_only=True)
class _Absent:
    """How many requests were sent without each part that was not recorded, and how many of them with inferred tools;
    and how many were of agents that write their calls into their text."""

    parts: Counter[str] = field(default_factory=Counter)
    inferred: int = 0
    in_text: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """The recorded cost of a number of calls."""

    calls: int = 0
    cost_usd: Decimal = Decimal(0)
    unknown_calls: int = 0
    in_whole: int = 0
    whole_usd: Decimal | None = None


MESSAGE_SHOWN: Final = 300
_CALLED: Final = Q(Exists(ReplayAttempt.objects.filter(step=OuterRef("pk"), calls_made__gt=0)))
_WAS_ASKED = ExpressionWrapper(
    Q(kind__in=MODEL_CALLS) & (Q(model__isnull=False) | Q(verdict="error")), output_field=BooleanField()
)


def tally(replay: Replay) -> Tally:
    """Return the replay's counts."""
    return tallies([replay])[replay.id]


def newest_with_counts(session: Session, most: int) -> list[Replay]:
    """Return the session's newest replays that belong to no comparison or suite run, each with its `counts` so far."""
    found = list(independent(replays_of(session))[:most])
    counts = tallies(found)
    for each in found:
        each.counts = counts[each.id]  # type: ignore[attr-defined]
    return found


def tallies(replays: Sequence[Replay]) -> dict[UUID, Tally]:
    """Return the counts of each replay. Three queries, and one more each if steps failed, if model calls were sent, if answers differ, and
    for continuations; the database does the adding."""
    ids = [replay.id for replay in replays]
    counted = _counted_steps(ids)
    spent = spending_by("step__replay_id", ReplayAttempt.objects.filter(step__replay__in=ids))
    recorded = _recorded(ids)
    endings = _endings([replay.id for replay in replays if replay.kind == CONTINUE])
    failed = [each for each, steps in counted.items() if steps.statuses["failed"]]
    failures = (
        most_frequent_failures(ReplayStep.objects.filter(replay__in=failed), "replay_id") if failed else {}
    )
    differing = [each for each, steps in counted.items() if steps.verdicts.keys() - NO_DIVERGENCE]
    absent = _absent([each for each, steps in counted.items() if steps.sent])
    diverged = first_divergences(ReplayStep.objects.filter(replay__in=differing)) if differing else {}
    found = {}
    for replay in replays:
        steps, before = counted.get(replay.id, _Steps()), recorded.get(replay.id, _Recorded())
        spending, limit = spent.get(replay.id, NO_SPENDING), replay.options.get("spend_limit_usd")
        has_own_limit = limit is not None and replay.spend_group is None
        found[replay.id] = Tally(
            kind=replay.kind,
            status=replay.status,
            model=replay.model,
            statuses=dict(steps.statuses),
            asked=steps.asked,
            sent=steps.sent,
            contexts=dict(steps.contexts),
            verdicts=dict(steps.verdicts),
            retrievals=dict(steps.retrievals),
            cost_usd=spending.cost_usd,
            unknown_cost_calls=spending.unknown_calls,
            recorded_cost_usd=before.cost_usd,
            recorded_unknown_cost_calls=before.unknown_calls,
            recorded_in_whole=before.in_whole,
            recorded_whole_usd=before.whole_usd,
            uncertain_calls=spending.uncertain_calls,
            called=before.calls,
            failure=failures.get(replay.id),
            cut_off=steps.cut_off,
            low_grounding=steps.low_grounding,
            opposite=steps.opposite,
            shortened=steps.shortened,
            spend_limit_usd=Decimal(str(limit)) if has_own_limit else None,
            waiting=steps.waiting,
            waits_until=steps.waits_until,
            ending=endings.get(replay.id),
            diverged=diverged.get(replay.id),
            absent=dict(absent[replay.id].parts) if replay.id in absent else {},
            inferred=absent[replay.id].inferred if replay.id in absent else 0,
            in_text=absent[replay.id].in_text if replay.id in absent else 0,
        )
    return found


def _absent(ids: Sequence[UUID]) -> dict[UUID, _Absent]:
    """Return what the requests that these replays sent lack. One query, none without any."""
    if not ids:
        return {}
    sent = ReplayStep.objects.annotate(was_asked=_WAS_ASKED).filter(
        replay__in=ids, kind=MODEL_CALL, was_asked=True
    )
    lacking = Q(evidence__request__absent__0__isnull=False) | Q(evidence__request__has_key="calls_in_text")
    rows = sent.filter(lacking).annotate(inferred=_has("inferred_tools"), in_text=_has("calls_in_text"))
    found: dict[UUID, _Absent] = defaultdict(_Absent)
    for row in (
        rows.order_by()
        .values("replay_id", "evidence__request__absent", "inferred", "in_text")
        .annotate(steps=Count("id"))
    ):
        of_replay = found[row["replay_id"]]
        names = {TOOLS if each.startswith(TOOLS) else each for each in row["evidence__request__absent"]}
        of_replay.parts.update(dict.fromkeys(sorted(names), row["steps"]))
        of_replay.inferred += row["steps"] if row["inferred"] else 0
        of_replay.in_text += row["steps"] if row["in_text"] else 0
    return found


def _has(name: str) -> Combinable:
    return ExpressionWrapper(Q(evidence__request__has_key=name), output_field=BooleanField())


def _endings(continuations: Sequence[UUID]) -> dict[UUID, Ending | None]:
    """Return how these continuations ended. One query, none without any."""
    if not continuations:
        return {}
    rows = ReplayStep.objects.filter(replay__in=continuations).values_list("replay_id", "evidence")
    return {replay: Ending.stored(evidence) for replay, evidence in rows}


def first_divergences(steps: QuerySet[ReplayStep]) -> dict[UUID, FirstDivergence]:
    """Return for each replay of these steps the first one in which it does something else than the recording. One query."""
    differing = steps.filter(verdict__isnull=False).exclude(verdict__in=NO_DIVERGENCE)
    first = differing.order_by("replay_id", "sequence").distinct("replay_id")
    before = {"sequence__lt": OuterRef("sequence"), "kind": OuterRef("kind")}
    recorded = Action.objects.filter(HAPPENED_HERE, session=OuterRef("replay__session"), **before)
    answers = ReplayStep.objects.filter(replay=OuterRef("replay"), verdict__isnull=False, **before)
    rows = ReplayStep.objects.filter(id__in=first.values("id")).annotate(
        recorded=_number_of(recorded.exclude(parameters__operation=EMBEDDINGS)),
        answers=_number_of(answers.exclude(verdict="error")),
    )
    return {
        row["replay_id"]: FirstDivergence.model_construct(
            sequence=row["sequence"],
            verdict=row["verdict"],
            in_words=verdict_words(row) or "",
            earlier_unanswered=max(row["recorded"] - row["answers"], 0),
        )
        for row in rows.values("replay_id", "sequence", "recorded", "answers", *VERDICT)
    }


def _number_of(rows: QuerySet[Any]) -> Combinable:
    counted = rows.order_by().annotate(every=Value(1)).values("every").annotate(number=Count("id"))
    return Coalesce(Subquery(counted.values("number")), 0)


def counts_by(owner: str, name: str, rows: QuerySet[Any]) -> dict[UUID, dict[str, int]]:
    """Return for each value of the `owner` column how many rows have which value of another column, without null. One query."""
    found: dict[UUID, dict[str, int]] = {}
    for row in rows.order_by().values(owner, name).annotate(number=Count("id")):
        if row[name] is not None:
            found.setdefault(row[owner], {})[row[name]] = row["number"]
    return found


def most_frequent_failures(steps: QuerySet[ReplayStep], owner: str) -> dict[UUID, FrequentError]:
    """Return the most frequent error of each owner's steps (a replay, or a run of a suite), for those with a failed step."""
    message = Left("error_message", MESSAGE_SHOWN, output_field=FaithfulTextField())
    failed = steps.filter(status="failed", error_message__isnull=False).annotate(said=message)
    rows = failed.order_by().values(owner, "said").annotate(steps=Count("id")).order_by("-steps", "said")
    found: dict[UUID, FrequentError] = {}
    for row in rows:
        error = FrequentError.model_construct(message=row["said"], steps=row["steps"])
        found.setdefault(row[owner], error)
    return found


def _counted_steps(ids: Sequence[UUID]) -> dict[UUID, _Steps]:
    fields = ("replay_id", "kind", "status", "context", "verdict", "retrieval__verdict", "was_asked")
    steps = ReplayStep.objects.filter(replay__in=ids).annotate(was_asked=_WAS_ASKED)
    waits = Q(status="running", asked_again_at__gt=now())
    rows = (
        steps.order_by()
        .values(*fields)
        .annotate(
            steps=Count("id"),
            cut_off=Count("id", filter=Q(evidence__has_key="cut_off")),
            low=Count("id", filter=Q(grounding__label="LOW")),
            opposite=Count("id", filter=_IS_OPPOSITE),
            shortened=Count("id", filter=_IS_SHORTENED),
            waiting=Count("id", filter=waits),
            waits_until=Max("asked_again_at", filter=waits),
        )
    )
    found: dict[UUID, _Steps] = defaultdict(_Steps)
    for row in rows:
        of_replay = found[row["replay_id"]]
        for name, counts in (
            ("status", of_replay.statuses),
            ("context", of_replay.contexts),
            ("verdict", of_replay.verdicts),
            ("retrieval__verdict", of_replay.retrievals),
        ):
            if row[name] is not None:
                counts[row[name]] += row["steps"]
        if row["was_asked"]:
            of_replay.asked += row["steps"]
            of_replay.sent += row["steps"] if row["kind"] == MODEL_CALL else 0
        of_replay.cut_off += row["cut_off"]
        of_replay.low_grounding += row["low"]
        of_replay.opposite += row["opposite"]
        of_replay.shortened += row["shortened"]
        of_replay.waiting += row["waiting"]
        of_replay.waits_until = max(filter(None, (of_replay.waits_until, row["waits_until"])), default=None)
    return found


def unknown_reasons(replay: Replay, counts: Tally) -> dict[str, int]:
    """Return for each reason why the cost of a call of the replay is unknown the number of these calls. At most one query."""
    if not counts.unknown_cost_calls:
        return {}
    return reasons_of_attempts(ReplayAttempt.objects.filter(step__replay=replay))


def recorded_reasons(replay: Replay, counts: Tally) -> dict[str, int]:
    """Return the same for the recorded calls that were made again. At most one query."""
    if not counts.recorded_unknown_cost_calls:
        return {}
    return reasons_in(
        Action.objects.filter(
            UNKNOWN_COST, id__in=_repeated_calls([replay.id]).values("action_id"), cost_usd=None
        )
    )


def _repeated_calls(ids: Sequence[UUID]) -> QuerySet[ReplayStep]:
    """Return the asks and model calls that were made again or whose call was cancelled."""
    steps = ReplayStep.objects.annotate(was_asked=_WAS_ASKED).filter(replay__in=ids, kind__in=MODEL_CALLS)
    return steps.filter(Q(was_asked=True) | _CALLED)


def _recorded(ids: Sequence[UUID]) -> dict[UUID, _Recorded]:
    """Return the recorded cost of `_repeated_calls`."""
    rows = (
        _repeated_calls(ids)
        .order_by()
        .values("replay_id")
        .annotate(
            cost=Sum("action__cost_usd", default=Decimal(0)),
            unknown=Count("id", filter=Q(action__cost_usd=None)),
            in_whole=Count("id", filter=Q(action__cost_usd=None, action__prices__source="stated")),
            whole=Max("action__session__cost_usd"),
            calls=Count("id"),
        )
    )
    return {
        row["replay_id"]: _Recorded(
            calls=row["calls"],
            cost_usd=row["cost"],
            unknown_calls=row["unknown"],
            in_whole=row["in_whole"],
            whole_usd=row["whole"],
        )
        for row in rows
    }
