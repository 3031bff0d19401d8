"""The list of sessions, newest first, filtered and in pages."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import parse_field, parse_time, parse_typed_start, parse_typed_time
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.postgres_text import storable
from timemachine.memory.search.filters import check_choice
from timemachine.memory.search.names import index_conditions
from timemachine.memory.search.queries import sessions_with_words
from timemachine.recording.sessions.holds import IS_HELD
from timemachine.recording.sessions.models import BEGAN_AT, Session
from timemachine.recording.sessions.pure.vocabulary import KINDS, STATUSES
from timemachine.recording.sessions.queries import IS_BRANCH, IS_DATED, NEWEST_FIRST
from timemachine.recording.usage.models import Usage

PAGE: Final = 50
YES_OR_NO: Final = ("yes", "no")
COSTS: Final = ("unknown",)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionQuery:
    """A filter for sessions; all conditions must hold, and an empty text matches any.

    `named` is searched in names and keys, and among the tags as a complete one; `q` there and in steps, in the query language of the search. `tool`,
    `kind` and `model` match sessions with such a step. `since` and `until` are about the start: RFC 3339, or a
    date for the whole day; sessions without times do not match. `steps_since` and `steps_until` match sessions with a step on these
    days (UTC) to which `agent`, `tool`, `model` and `cost` apply, as reports of costs count them. `min_cost` is in USD; `cost` is `unknown` for
    sessions with calls of unknown cost. `held` is `yes` for sessions under legal hold, `no` for others; `branch` is `yes` for
    sessions that branched from another one, `no` for others.
    """

    q: str = ""
    named: str = ""
    agent: str = ""
    user: str = ""
    status: str = ""
    tag: str = ""
    tool: str = ""
    kind: str = ""
    model: str = ""
    since: str = ""
    until: str = ""
    steps_since: str = ""
    steps_until: str = ""
    min_cost: float | None = None
    cost: str = ""
    held: str = ""
    branch: str = ""

    def __bool__(self) -> bool:
        return any(value not in ("", None) for value in asdict(self).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsPage:
    """Some sessions and the opaque place of the next page, None at the end."""

    sessions: Sequence[Session]
    next: str | None


def sessions_page(
    project: Project, query: SessionQuery, after: str | None = None, limit: int = PAGE
) -> SessionsPage:
    """Return one page of the project's sessions, each with `is_held`.

    One query, three if steps are searched. Raises `InvalidInput` for an invalid filter or place.
    """
    found = sessions_matching(project, query).select_related("collection").annotate(is_held=IS_HELD)
    if after:
        began, last = _place(after)
        # the second condition follows from the first, and is the one that an index can use
        found = found.alias(began=BEGAN_AT).filter(
            Q(began__lt=began) | Q(began=began, id__lt=last), began__lte=began
        )
    sessions = list(found[: limit + 1])
    more = len(sessions) > limit
    return SessionsPage(sessions=sessions[:limit], next=_written(sessions[limit - 1]) if more else None)


def sessions_matching(project: Project, query: SessionQuery) -> QuerySet[Session]:
    """Return the project's sessions that match, newest first. Raises `InvalidInput` for an invalid filter."""
    _check(query)
    sessions = Session.objects.of(project)
    if query.q:
        sessions = sessions.filter(_named(query.q) | _with_words(project, query.q))
    if query.named:
        indexed = index_conditions(project, [query.named])[query.named]
        sessions = sessions.filter(indexed, _named(query.named))
    return _narrowed(sessions, query).order_by(*NEWEST_FIRST)


def _check(query: SessionQuery) -> None:
    for name, choices in (
        ("kind", KINDS),
        ("status", STATUSES),
        ("held", YES_OR_NO),
        ("branch", YES_OR_NO),
        ("cost", COSTS),
    ):
        check_choice(name, getattr(query, name), ("", *choices))


def _named(text: str) -> Q:
    words = storable(text)  # patterns are not converted by the model field
    return Q(name__icontains=words) | Q(key__icontains=words) | Q(tags__contains=[words])


def _with_words(project: Project, text: str) -> Q:
    """Return the condition for sessions with a step that matches the query; none if the text is not a valid query."""
    try:
        return Q(id__in=sessions_with_words(project, text))
    except InvalidInput:
        return Q(pk__in=[])


def _narrowed(sessions: QuerySet[Session], query: SessionQuery) -> QuerySet[Session]:
    if query.steps_since or query.steps_until:
        sessions = sessions.filter(Exists(_usage_on_days(query)))
        query = replace(query, agent="")
    for name in ("agent", "user", "status"):
        if value := getattr(query, name):
            sessions = sessions.filter(**{name: value})
    for name in ("tool", "kind", "model"):
        if value := getattr(query, name):
            sessions = sessions.filter(Exists(Usage.objects.filter(session=OuterRef("id"), **{name: value})))
    if query.tag:
        sessions = sessions.filter(tags__contains=[query.tag])
    return _started(_costing(_being(sessions, query), query), query)


def _being(sessions: QuerySet[Session], query: SessionQuery) -> QuerySet[Session]:
    for value, is_one in ((query.held, IS_HELD), (query.branch, IS_BRANCH)):
        if value:
            sessions = sessions.filter(is_one if value == "yes" else ~is_one)
    return sessions


def _usage_on_days(query: SessionQuery) -> QuerySet[Usage]:
    found = Usage.objects.filter(session=OuterRef("id"))
    if query.steps_since:
        since = parse_field("steps_since", query.steps_since, parse_typed_start)
        found = found.filter(day__gte=since.astimezone(UTC).date())
    if query.steps_until:
        until = parse_field("steps_until", query.steps_until, parse_typed_time)
        found = found.filter(day__lte=until.astimezone(UTC).date())
    for name in ("agent", "tool", "model"):
        if value := getattr(query, name):
            found = found.filter(**{name: value})
    return found.filter(unknown_cost_calls__gt=0) if query.cost else found


def _costing(sessions: QuerySet[Session], query: SessionQuery) -> QuerySet[Session]:
    if query.min_cost is not None:
        sessions = sessions.filter(cost_usd__gte=query.min_cost)
    return sessions.filter(unknown_cost_calls__gt=0) if query.cost else sessions


def _started(sessions: QuerySet[Session], query: SessionQuery) -> QuerySet[Session]:
    if not query.since and not query.until:
        return sessions
    sessions = sessions.filter(IS_DATED).alias(began=BEGAN_AT)
    if query.since:
        sessions = sessions.filter(began__gte=parse_field("since", query.since, parse_typed_start))
    if query.until:
        sessions = sessions.filter(began__lte=parse_field("until", query.until, parse_typed_time))
    return sessions


def _written(session: Session) -> str:
    began = session.first_step_at or session.started_at  # `BEGAN_AT`
    return base64.urlsafe_b64encode(f"{began.isoformat()} {session.id.hex}".encode()).decode()


def _place(after: str) -> tuple[object, UUID]:
    try:
        began, last = base64.urlsafe_b64decode(after.encode()).decode().split(" ")
        return parse_time(began), UUID(last)
    except (ValueError, binascii.Error, InvalidInput) as why:
        raise InvalidInput("Invalid page. Open the list from its first page.", code="unknown_after") from why
