"""What the picture of a session is drawn from: its steps, or consecutive ones counted together."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import (
    Case,
    Expression,
    ExpressionWrapper,
    F,
    FloatField,
    Func,
    IntegerField,
    Max,
    Min,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce

from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.core.pure.postgres_text import original
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import FAILED, HAPPENED_HERE, UNKNOWN_COST_CALLS
from timemachine.recording.timeline.pure.axis import COLUMNS, MOST_FOLDS, SHORTEST_GAP
from timemachine.recording.timeline.pure.picture import (
    MOST_AGENTS,
    MOST_BARS,
    OTHERS,
    AxisName,
    Picture,
    Piece,
    depths,
    picture,
)
from timemachine.recording.usage.models import BIN, Bin

_TEXT: Final[FaithfulTextField[str, str]] = FaithfulTextField()
_OWNER: Final = Coalesce(F("agent"), F("session__agent"), Value("", _TEXT), output_field=_TEXT)
PARTS: Final = 300
"""Into about how many parts a long range is cut; the steps of each are counted together by kind and agent."""
MOST_COUNTED: Final = 20_000
"""Above this many steps, a picture uses the counts per hundred steps, which do not distinguish agents."""
FINE: Final = 10
"""How many steps are counted together where a gap may be."""
CACHED: Final = 64
"""How many pictures a process caches. Apart from names, what they show never changes, so one is redrawn only when new steps arrive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRange:
    """The steps `first` to `last` of a session."""

    first: int
    last: int

    @property
    def steps(self) -> int:
        return self.last - self.first + 1


# One pass finds where nothing happened for long, so that no count reaches across such a gap.
_COUNTED: Final = """
WITH step AS MATERIALIZED (
    SELECT sequence, kind, owner AS agent, begins, begins + coalesce(duration_ms, 0) / 1000 AS ends, failed, cost, unknown
    FROM ({steps}) AS chosen
), most AS (SELECT agent FROM step GROUP BY agent ORDER BY count(*) DESC, agent LIMIT %s),
gap AS (SELECT greatest(%s, (max(ends) - min(begins)) / 2000) AS seconds FROM step),
jump AS (
    SELECT step.*, (begins - max(ends) OVER (ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        > (SELECT seconds FROM gap))::int AS jumps FROM step
), part AS (
    SELECT jump.*, sum(coalesce(jumps, 0)) OVER (ORDER BY sequence) AS island FROM jump
), named AS (
    SELECT part.*, CASE WHEN agent IN (SELECT agent FROM most) THEN agent ELSE %s END AS lane FROM part
)
SELECT min(sequence), max(sequence), kind, lane, min(begins), max(ends), count(*), sum(failed), coalesce(sum(cost), 0)::float8,
    sum(unknown)
FROM named GROUP BY (sequence - %s) / %s, island, begins IS NULL, kind, lane
ORDER BY 1
"""


def session_picture(session: Session, axis: AxisName, requested: StepRange | None = None) -> Picture | None:
    """Return the picture of a session or a range of its steps; None if nothing was recorded, or no times for a time axis.

    A very long range begins and ends with complete hundreds and has no agents. At most three queries; if the picture is cached,
    one for the names of agents, none without them.
    """
    whole = StepRange(first=1, last=session.last_sequence)
    if not whole.steps:
        return None
    span = whole
    if requested:
        first = min(max(requested.first, 1), whole.last)
        span = StepRange(first=first, last=min(max(requested.last, first), whole.last))
    found = _unnamed_picture(session.id, session.last_sequence, span, axis)
    return found and _with_names(found, session)


@lru_cache(maxsize=CACHED)
def _unnamed_picture(session: UUID, last_recorded: int, span: StepRange, axis: AxisName) -> Picture | None:
    """Return a picture in which each agent is called by the number of its first step, because a name may be erased."""
    if span.steps > MOST_COUNTED:
        return _of_hundreds(session, last_recorded, span, axis)
    steps = Action.objects.filter(session=session, sequence__range=(span.first, span.last))
    pieces = _pieces(_facts(steps, _OWNER), span)
    first = {OTHERS: OTHERS, "": ""}
    for each in pieces:
        first.setdefault(each.agent, str(each.first))
    unnamed = [replace(each, agent=first[each.agent]) for each in pieces]
    return picture(unnamed, axis, span.first, span.last)


def _with_names(found: Picture, session: Session) -> Picture:
    first = {int(lane.agent) for lane in found.lanes if lane.agent not in ("", OTHERS)}
    if not first:
        return found
    steps = Action.objects.filter(session=session, sequence__in=first).annotate(owner=_OWNER)
    names = {str(sequence): owner for sequence, owner in steps.values_list("sequence", "owner")}
    return replace(
        found, lanes=[replace(lane, agent=names.get(lane.agent, lane.agent)) for lane in found.lanes]
    )


def pieces_of(steps: QuerySet[Action], span: StepRange, agent: str = "") -> list[Piece]:
    """Return what to draw of the steps of one session, all of them within a range. A step without an agent has this one. One query.

    Names of agents are recorded text: a reader who may not see them needs others.
    """
    return _pieces(_facts(steps, Coalesce(F("agent"), Value(agent, _TEXT), output_field=_TEXT)), span)


def _pieces(rows: QuerySet[Any], span: StepRange) -> list[Piece]:
    return _single(rows) if span.steps <= MOST_BARS else _counted(rows, span.first, -(-span.steps // PARTS))


def _facts(steps: QuerySet[Action], owner: Expression) -> QuerySet[Any]:
    """Return the steps in order with what a picture needs. Nothing of a copied step happened here."""
    begins = Func(F("started_at"), template="date_part('epoch', %(expressions)s)")
    return steps.order_by("sequence").annotate(
        owner=owner,
        begins=Case(When(HAPPENED_HERE, then=begins), output_field=FloatField()),
        failed=Cast(ExpressionWrapper(FAILED, output_field=FloatField()), IntegerField()),
        unknown=Case(When(HAPPENED_HERE, then=UNKNOWN_COST_CALLS), default=0, output_field=IntegerField()),
        cost=Case(When(HAPPENED_HERE, then=F("cost_usd"))),
    )


def _single(rows: QuerySet[Any]) -> list[Piece]:
    found = list(
        rows.values(
            "sequence",
            "kind",
            "owner",
            "begins",
            "duration_ms",
            "failed",
            "cost",
            "unknown",
            "client_id",
            "parent_id_given",
            "parent_sequence",
        )
    )
    named = {row["client_id"]: row["sequence"] for row in found if row["client_id"] is not None}
    depth = depths({row["sequence"]: _parent(row, named) for row in found})
    return [
        Piece(
            first=row["sequence"],
            last=row["sequence"],
            kind=row["kind"],
            agent=row["owner"],
            begins=row["begins"],
            ends=None if row["begins"] is None else row["begins"] + (row["duration_ms"] or 0) / 1_000,
            errors=row["failed"],
            cost=float(row["cost"] or 0),
            unknown=row["unknown"],
            depth=depth[row["sequence"]],
        )
        for row in found
    ]


def _parent(row: Mapping[str, Any], named: Mapping[str, int]) -> int | None:
    given = row["parent_id_given"]
    found: int | None = row["parent_sequence"] if given is None else named.get(given)
    return found


def _counted(rows: QuerySet[Any], first: int, width: int) -> list[Piece]:
    chosen = rows.values("sequence", "kind", "owner", "begins", "duration_ms", "failed", "cost", "unknown")
    steps, values = chosen.query.sql_with_params()
    rest = (MOST_AGENTS, SHORTEST_GAP, OTHERS, first, width)
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED.format(steps=steps), (*values, *rest))
        return [
            Piece(
                first=begin,
                last=end,
                kind=kind,
                agent=original(agent),
                begins=begins,
                ends=ends,
                number=number,
                errors=errors,
                cost=cost,
                unknown=unknown,
            )
            for begin, end, kind, agent, begins, ends, number, errors, cost, unknown in cursor
        ]


def _of_hundreds(session: UUID, last_recorded: int, requested: StepRange, axis: AxisName) -> Picture | None:
    first, last = (requested.first - 1) // BIN, (requested.last - 1) // BIN
    span = StepRange(first=first * BIN + 1, last=min((last + 1) * BIN, last_recorded))
    per_part = -(-(last - first + 1) // COLUMNS)
    bins = Bin.objects.filter(session_id=session, bin__range=(first, last)).order_by()
    counted = bins.annotate(part=(F("bin") - first) / Value(per_part)).values_list("part", "kind")
    rows = counted.annotate(
        Sum("number"),
        Sum("copied"),
        Sum("errors"),
        Sum("cost_usd"),
        Sum("unknown_cost_calls"),
        Min("first"),
        Max("last"),
    )
    parts: dict[int, list[Piece]] = defaultdict(list)
    for part, kind, number, copied, errors, cost, unknown, begins, ends in rows:
        begin = span.first + part * per_part * BIN
        parts[part].append(
            Piece(
                first=begin,
                last=min(span.last, begin + per_part * BIN - 1),
                kind=kind,
                number=int(number if axis == "steps" else number - copied),
                errors=int(errors),
                cost=float(cost or 0),
                unknown=int(unknown),
                begins=begins and begins.timestamp(),
                ends=ends and ends.timestamp(),
            )
        )
    if axis == "time":
        _split(session, parts)
    pieces = [piece for _, part in sorted(parts.items()) for piece in part]
    return picture(pieces, axis, span.first, span.last)


def _split(session: UUID, parts: dict[int, list[Piece]]) -> None:
    """Replace the parts that took longest by finer ones, because an idle gap may be inside them. One query."""
    took = {
        part: max(each.ends or 0 for each in timed) - min(each.begins or 0 for each in timed)
        for part, pieces in parts.items()
        if (timed := [each for each in pieces if each.begins is not None])
    }
    longest = [
        part for part in sorted(took, key=took.__getitem__)[-MOST_FOLDS:] if took[part] >= SHORTEST_GAP
    ]
    if not longest:
        return
    inside = Q()
    for part in longest:
        inside |= Q(sequence__range=(parts[part][0].first, parts[part][0].last))
        parts[part] = []
    steps = Action.objects.filter(inside, HAPPENED_HERE, session_id=session)
    finer = _counted(_facts(steps, Value("", _TEXT)), 1, FINE)
    parts[longest[0]] = finer
