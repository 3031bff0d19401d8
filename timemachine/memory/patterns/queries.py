"""Query patterns: those of a project, one with its sessions, what solved it, and rules and alerts. Every query
starts from the project.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, Max, Min, Q, QuerySet
from django.db.models.functions import TruncDate

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import parse_field, parse_typed_start
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.postgres_text import is_plain
from timemachine.memory.patterns.models import (
    FEWEST_SESSIONS,
    PatternAlert,
    PatternRule,
    PatternStep,
    Wording,
)
from timemachine.memory.patterns.pure.step_texts import KINDS
from timemachine.memory.patterns.pure.trend import Trend, trend
from timemachine.recording.sessions.models import Action, Session

SHOWN_STEPS: Final = 100
"""How many steps of each session are listed; the total is always given."""
SHOWN_WORDINGS: Final = 50
_NO_TIME: Final = "none"
"""In a place, what has no time; it comes after everything with a time."""
_UNDATED: Final = Count("action", filter=Q(at=None))
_UNSEEN: Final = """
SELECT count(*) FROM tm_pattern_alert alert JOIN tm_pattern_rule rule ON rule.id = alert.rule_id
WHERE alert.project_id = %(project)s AND seen_at IS NULL AND alert.sessions >= rule.sessions
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternFilter:
    """A filter for patterns; all conditions must hold, and an empty text matches any.

    `since` is about when a pattern was last seen: RFC 3339, or a date for the whole day. `solved` is `yes` or
    `no`.
    """

    kind: str = ""
    q: str = ""
    since: str = ""
    solved: str = ""
    min_sessions: int = FEWEST_SESSIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What solved a pattern in one session: the step that failed, and the later step that solved it."""

    session: Session
    sequence: int
    solved_by: int
    how: str
    changed: tuple[str, ...]
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InSession:
    """A pattern in one session: how often and when it occurred, its first steps, and what solved it there.

    `first_at` and `last_at` are None if no time is known; `undated` is of how many steps none is.
    """

    session: Session
    steps: int
    undated: int
    sequences: tuple[int, ...]
    first_at: datetime | None
    last_at: datetime | None
    resolution: Resolution | None


def patterns_of(project: Project, pattern_filter: PatternFilter) -> QuerySet[Wording]:
    """Return the project's patterns that match, last seen first and those without times at the end. Raises `InvalidInput`."""
    found = Wording.objects.filter(project=project, pattern=F("id"), sessions__gte=_fewest(pattern_filter))
    if pattern_filter.kind:
        if pattern_filter.kind not in KINDS:
            raise _invalid_choice("kind", KINDS)
        found = found.filter(kind=pattern_filter.kind)
    if pattern_filter.q:
        text = pattern_filter.q if is_plain(pattern_filter.q) else "\ufffd"
        found = found.filter(Q(text__icontains=text) | Q(wordings__text__icontains=text)).distinct()
    if (since := _since(pattern_filter)) is not None:
        found = found.filter(last_at__gte=since)
    if pattern_filter.solved:
        if pattern_filter.solved not in {"yes", "no"}:
            raise _invalid_choice("solved", ("yes", "no"))
        found = found.filter(solved__gte=1) if pattern_filter.solved == "yes" else found.filter(solved=0)
    return found.order_by(F("last_at").desc(nulls_last=True), "-id")


def patterns_after(found: QuerySet[Wording], place: str) -> QuerySet[Wording]:
    """Return the patterns after a place from `place_of`. Raises `InvalidInput` for any other text."""
    return found.filter(_before(place, at="last_at", row_id="id"))


def place_of(pattern: Wording) -> str:
    """Return the place of a pattern in the list."""
    return _place(pattern.last_at, pattern.id)


def pattern_of(project: Project, pattern_id: str | UUID) -> Wording:
    """Return the project's pattern with that id, or the pattern of the wording with that id.

    Raises `NotFound`, also for a pattern of another project.
    """
    id_ = uuid_of(str(pattern_id))
    rows = Wording.objects.filter(project=project).select_related("pattern")
    found = None if id_ is None else rows.filter(id=id_).first()
    pattern = found and (found.pattern or found)
    if pattern is None:
        raise NotFound(
            "There is no such pattern in this project. It may have been deleted with its last step.",
            code="pattern_not_found",
        )
    return pattern


def with_current_counts(patterns: Sequence[Wording]) -> list[Wording]:
    """Return the patterns with the counts of the steps that exist now. After a deletion the stored counts are
    updated later. One query.
    """
    solved = Count("session", distinct=True, filter=Q(solved_by__isnull=False))
    found = {
        row["wording__pattern"]: row
        for row in steps_of([each.id for each in patterns])
        .values("wording__pattern")
        .annotate(
            number=Count("action"),
            sessions=Count("session", distinct=True),
            solved=solved,
            undated=_UNDATED,
            first=Min("at"),
            last=Max("at"),
        )
    }
    for each in patterns:
        row = found.get(each.id)
        each.steps, each.sessions, each.solved, each.undated = (
            (row["number"], row["sessions"], row["solved"], row["undated"]) if row else (0, 0, 0, 0)
        )
        if row:
            each.first_at, each.last_at = row["first"], row["last"]
    return list(patterns)


def patterns_page(
    found: QuerySet[Wording], pattern_filter: PatternFilter, limit: int
) -> tuple[list[Wording], str | None]:
    """Return a page of patterns with current counts, and the next place, or None at the end.

    Patterns that no longer match after a deletion are left out, so a page may have fewer than `limit` patterns;
    it is empty only at the end. Two queries, more only if nothing of a page matches.
    """
    since = _since(pattern_filter)
    while True:
        rows = list(found[: limit + 1])
        place = place_of(rows[limit - 1]) if len(rows) > limit else None
        fitting = [each for each in with_current_counts(rows[:limit]) if _fits(each, pattern_filter, since)]
        if fitting or place is None:
            return fitting, place
        found = patterns_after(found, place)


def steps_of(patterns: Collection[UUID]) -> QuerySet[PatternStep]:
    """Return the steps of these patterns."""
    return PatternStep.objects.filter(wording__pattern__in=patterns)


def sessions_of(pattern: Wording, *, limit: int, after: str | None = None) -> list[InSession]:
    """Return at most `limit` sessions with the pattern, most recent first, after the place `after`; those without times at
    the end. Four queries.

    Raises `InvalidInput` for an unknown place.
    """
    found = (
        steps_of([pattern.id])
        .values("session")
        .annotate(
            number=Count("action"),
            undated=_UNDATED,
            first=Min("at"),
            last=Max("at"),
            sequences=ArrayAgg("sequence", order_by="sequence"),
        )
        .order_by(F("last").desc(nulls_last=True), "-session")
    )
    if after is not None:
        found = found.filter(_before(after, at="last", row_id="session"))
    rows = list(found[:limit])
    sessions = Session.objects.in_bulk([row["session"] for row in rows])
    solved = _first_solved(pattern, list(sessions))
    return [
        InSession(
            session=sessions[row["session"]],
            steps=row["number"],
            undated=row["undated"],
            sequences=tuple(row["sequences"][:SHOWN_STEPS]),
            first_at=row["first"],
            last_at=row["last"],
            resolution=solved.get(row["session"]),
        )
        for row in rows
        if row["session"] in sessions
    ]


def session_place(row: InSession) -> str:
    """Return the place of a session in the list of a pattern's sessions."""
    return _place(row.last_at, row.session.id)


def wordings_of(pattern: Wording) -> list[tuple[str, int]]:
    """Return the wordings of a pattern with their numbers of steps, most frequent first, at most `SHOWN_WORDINGS`.
    One query.
    """
    rows = Wording.objects.filter(pattern=pattern.id).annotate(number=Count("said_by"))
    return list(rows.order_by("-number", "text").values_list("text", "number")[:SHOWN_WORDINGS])


def trends_of(patterns: Sequence[Wording]) -> dict[UUID, Trend]:
    """Return how often each pattern occurred over time. Steps without a time are in no trend. One query."""
    dated = steps_of([each.id for each in patterns]).filter(at__isnull=False)
    rows = dated.annotate(day=TruncDate("at"))
    days: dict[UUID, dict[date, int]] = {}
    for pattern, day, number in rows.values_list("wording__pattern", "day").annotate(number=Count("action")):
        days.setdefault(pattern, {})[day] = number
    return {pattern: found for pattern, counts in days.items() if (found := trend(counts))}


def resolutions_of(patterns: Collection[UUID], *, apart_from: UUID | None = None) -> dict[UUID, Resolution]:
    """Return what solved each pattern most recently, in any session except `apart_from`. Two queries."""
    rows = steps_of(patterns).filter(solved_by__isnull=False).exclude(session=apart_from)
    newest = (F("at").desc(nulls_last=True), "-action")
    latest = rows.order_by("wording__pattern", *newest).distinct("wording__pattern")
    found = list(latest.select_related("wording", "session"))
    return {
        each.wording.pattern_id: resolution
        for each, resolution in _with_resolutions(found)
        if each.wording.pattern_id
    }


def rules_of(project: Project) -> QuerySet[PatternRule]:
    """Return the project's rules, oldest first."""
    return PatternRule.objects.filter(project=project).order_by("id")


def rule_of(project: Project, rule_id: str | UUID) -> PatternRule:
    """Return the project's rule with that id. Raises `NotFound`."""
    id_ = uuid_of(str(rule_id))
    found = None if id_ is None else rules_of(project).filter(id=id_).first()
    if found is None:
        raise NotFound("There is no such rule in this project.", code="pattern_rule_not_found")
    return found


def alerts_of(project: Project) -> QuerySet[PatternAlert]:
    """Return the project's alerts, latest first, without those whose rule would not be met any more after
    deletions.
    """
    return _still_met(_alerts(project)).order_by("-id")


def alert_of(project: Project, alert_id: str | UUID) -> PatternAlert:
    """Return the project's alert with that id. Raises `NotFound`."""
    id_ = uuid_of(str(alert_id))
    found = None if id_ is None else _alerts(project).filter(id=id_).first()
    if found is None:
        raise NotFound(
            "There is no such alert in this project. It may have been deleted with its pattern or its rule.",
            code="pattern_alert_not_found",
        )
    return found


def count_unseen_alerts(project: Project) -> int:
    """Return how many alerts of `alerts_of` have not been dismissed. One query."""
    return int(prepared_statements.fetch_rows(_UNSEEN, {"project": project.id})[0][0])


def _alerts(project: Project) -> QuerySet[PatternAlert]:
    return PatternAlert.objects.filter(project=project).select_related("rule", "pattern__pattern")


def _still_met(found: QuerySet[PatternAlert]) -> QuerySet[PatternAlert]:
    return found.filter(sessions__gte=F("rule__sessions"))


def _fewest(pattern_filter: PatternFilter) -> int:
    if not 1 <= pattern_filter.min_sessions < 2**31:
        raise InvalidInput("`min_sessions` must be at least 1.", code="invalid_field", field="min_sessions")
    return pattern_filter.min_sessions


def _since(pattern_filter: PatternFilter) -> datetime | None:
    return parse_field("since", pattern_filter.since, parse_typed_start) if pattern_filter.since else None


def _fits(pattern: Wording, pattern_filter: PatternFilter, since: datetime | None) -> bool:
    """Return whether a pattern's counts match the filter."""
    lately = since is None or (pattern.last_at is not None and pattern.last_at >= since)
    solved = not pattern_filter.solved or (pattern.solved > 0) == (pattern_filter.solved == "yes")
    return pattern.sessions >= pattern_filter.min_sessions and lately and solved


def _invalid_choice(name: str, known: Collection[str]) -> InvalidInput:
    return InvalidInput(f"`{name}` must be one of {', '.join(known)}.", code="invalid_field", field=name)


def _place(at: datetime | None, row: UUID) -> str:
    return f"{at.isoformat() if at else _NO_TIME} {row}"


def _before(place: str, *, at: str, row_id: str) -> Q:
    """Return the condition for what comes after a place in a list with the newest first."""
    written, _, row = place.partition(" ")
    id_ = uuid_of(row)
    if id_ is not None and written == _NO_TIME:
        return Q(**{f"{at}__isnull": True, f"{row_id}__lt": id_})
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        moment = None
    if id_ is None or moment is None or moment.tzinfo is None:
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after")
    earlier = Q(**{f"{at}__lt": moment}) | Q(**{f"{at}__isnull": True})
    return earlier | Q(**{at: moment, f"{row_id}__lt": id_})


def _first_solved(pattern: Wording, sessions: Collection[UUID]) -> dict[UUID, Resolution]:
    """Return what solved the pattern first in each of these sessions. Two queries."""
    rows = steps_of([pattern.id]).filter(session__in=sessions, solved_by__isnull=False)
    first = rows.order_by("session", "sequence").distinct("session").select_related("session", "wording")
    return {each.session_id: resolution for each, resolution in _with_resolutions(list(first))}


def _with_resolutions(found: Sequence[PatternStep]) -> list[tuple[PatternStep, Resolution]]:
    labels = _labels(found)
    return [
        (
            each,
            Resolution(
                session=each.session,
                sequence=each.sequence,
                solved_by=each.solved_by or 0,
                how=each.solved_how or "",
                changed=tuple(each.changed),
                label=labels.get((each.session_id, each.solved_by or 0), ""),
            ),
        )
        for each in found
    ]


def _labels(found: Sequence[PatternStep]) -> Mapping[tuple[Any, int], str]:
    """Return the labels of the steps that solved them. One query."""
    if not found:
        return {}
    steps = Q()
    for each in found:
        steps |= Q(session=each.session_id, sequence=each.solved_by)
    rows = Action.objects.filter(steps).values_list("session_id", "sequence", "label")
    return {(session, sequence): label for session, sequence, label in rows}
