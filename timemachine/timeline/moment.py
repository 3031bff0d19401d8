"""Everything that was known at a step: what had been said, what existed, what it had cost so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, DateTimeField, ExpressionWrapper, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from timemachine.base.clock import parse_time
from timemachine.recording.costs import UNKNOWN_COST
from timemachine.recording.models import Action, Hit, Session
from timemachine.recording.vocabulary import KINDS
from timemachine.retrieval.queries import frames_at
from timemachine.timeline.rows import FAILED
from timemachine.timeline.state import Totals, fold
from timemachine.timeline.step import Head, heads

MESSAGE_BYTES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message, or a question or answer of an ask: who said it at which step, and how it begins."""

    sequence: int
    role: str | None
    text: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedFrame:
    """A frame that a find or ask up to a step returned, and the step that returned it first."""

    frame: object
    version: int | None
    title: str | None
    first_used: int


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything known at a step: totals, the latest of so many messages, the frames used, and how many frames existed.

    `frames_existed` is None where the session has no collection; `as_of` is the moment it was counted for.
    """

    sequence: int
    totals: Totals
    messages: Sequence[Said]
    message_count: int
    frames_used: Sequence[UsedFrame]
    frames_existed: int | None
    as_of: datetime


def state_at(session: Session, sequence: int, *, most_messages: int = 50, most_frames: int = 200) -> State:
    """Everything known when that step had been recorded. Six queries at most."""
    until = Action.objects.filter(session=session, sequence__lte=sequence)
    as_of = _moment_of(until.order_by("-sequence").first(), session)
    said, count = _messages(until, most_messages)
    return State(
        sequence=sequence,
        totals=totals_of(until),
        messages=said,
        message_count=count,
        frames_used=_frames_used(session, sequence, most_frames),
        frames_existed=_frames_existed(session, as_of),
        as_of=as_of,
    )


def totals_of(actions: QuerySet[Action]) -> Totals:
    """The exact totals of some actions, added up by the database per kind. One query."""
    ended = ExpressionWrapper(
        F("started_at") + Coalesce(F("duration_ms"), 0.0) * timedelta(milliseconds=1),
        output_field=DateTimeField(),
    )
    rows = (
        actions.order_by()
        .values("kind")
        .annotate(
            number=Count("id"),
            errors=Count("id", filter=FAILED),
            input_sum=Sum("input_tokens"),
            output_sum=Sum("output_tokens"),
            cost_sum=Sum("cost_usd"),
            unknown=Count("id", filter=UNKNOWN_COST),
            cached_number=Count("id", filter=Q(cached=True)),
            saved_sum=Sum("saved_usd", filter=Q(cached=True)),
            unknown_saved=Count("id", filter=Q(cached=True, saved_usd=None)),
            first=Min("started_at"),
            last=Max(ended),
        )
    )
    return fold(
        Totals(
            kinds={row["kind"]: row["number"]},
            errors=row["errors"],
            input_tokens=row["input_sum"],
            output_tokens=row["output_sum"],
            cost_usd=row["cost_sum"] or Decimal(0),
            unknown_cost_calls=row["unknown"],
            cached_calls=row["cached_number"],
            saved_usd=row["saved_sum"] or Decimal(0),
            unknown_saved_calls=row["unknown_saved"],
            first=row["first"],
            last=row["last"],
        )
        for row in sorted(rows, key=lambda row: KINDS.index(row["kind"]))
    )


def _moment_of(action: Action | None, session: Session) -> datetime:
    """When a step saw the world: the moment its retrieval names, else its start, else its recording."""
    if action is None:
        return session.started_at
    named = (action.retrieval or {}).get("as_of")
    return parse_time(named) if named else action.started_at or action.recorded_at


def _messages(until: QuerySet[Action], most: int) -> tuple[list[Said], int]:
    """The latest messages, in their order, and how many there are; an ask is a question and its answer."""
    talking = until.filter(kind__in=("message", "ask"))
    latest = [*talking.order_by("-sequence")[:most]][::-1]
    found = heads(
        [payload for action in latest for payload in (action.input_id, action.output_id)], MESSAGE_BYTES
    )
    said = [
        Said(sequence=action.sequence, role=role, text=found[payload])
        for action in latest
        for role, payload in _turns(action)
        if payload is not None
    ]
    return said, talking.count()


def _turns(action: Action) -> list[tuple[str | None, int | None]]:
    if action.kind == "ask":
        failed = action.error_type is not None  # what it wrote before it failed is no answer
        return [("user", action.input_id), ("agent", None if failed else action.output_id)]
    return [(action.role, action.output_id or action.input_id)]


def _frames_used(session: Session, sequence: int, most: int) -> list[UsedFrame]:
    hits = Hit.objects.filter(action__session=session, action__sequence__lte=sequence, frame__isnull=False)
    used = (
        hits.values("frame", "version", "title")
        .annotate(first_used=Min("action__sequence"))
        .order_by("first_used")
    )
    return [UsedFrame(**row) for row in used[:most]]


def _frames_existed(session: Session, as_of: datetime) -> int | None:
    return frames_at(session.collection, as_of).count() if session.collection is not None else None
