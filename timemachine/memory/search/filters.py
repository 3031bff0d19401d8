"""The options of a search, checked, and the steps that it considers as an SQL condition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection

from timemachine.core.accounts.models import Project
from timemachine.core.database import SqlParameters
from timemachine.core.pure.clock import parse_field, parse_typed_start, parse_typed_time, written
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.postgres_text import storable
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.sessions.queries import TIME_SQL, session_of

MODES: Final = ("hybrid", "text", "semantic")
STATUSES: Final = ("error", "ok", "recording", "ended")

_HAS_TIME: Final = f"{TIME_SQL} IS NOT NULL"
_OF_ACTION: Final = {
    "kind": "a.kind = %(kind)s",
    "tool": "a.tool = %(tool)s",
    "model": "a.model = %(model)s",
    "agent": "coalesce(a.agent, s.agent) = %(agent)s",
    "since": f"coalesce(a.started_at, a.recorded_at) >= %(since)s AND {_HAS_TIME}",
    "until": f"coalesce(a.started_at, a.recorded_at) <= %(until)s AND {_HAS_TIME}",
    "user": 's."user" = %(user)s',
    "tag": "(s.tags @> ARRAY[%(tag)s]::text[] OR a.tags @> ARRAY[%(tag)s]::text[])",
    "min_cost": "s.cost_usd >= %(min_cost)s",
}
_STATUS: Final = {
    "error": "(a.error_type IS NOT NULL OR a.error_message IS NOT NULL)",
    "ok": "a.error_type IS NULL AND a.error_message IS NULL",
    "recording": "s.status = 'recording'",
    "ended": "s.status = 'ended'",
}
_JOINED: Final = "JOIN tm_action a ON a.id = x.action_id JOIN tm_session s ON s.id = a.session_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The options of a search; an empty text matches any.

    `agent` is the step's own, else its session's. `since` and `until` are about the start of a step, or its
    recording if that is unknown, which imported steps without times do not have: RFC 3339, or a date for the whole day. `status` is the step's (`error`, `ok`)
    or its session's (`recording`, `ended`). `user` and `min_cost` (USD) are its session's, `tag` is of either.
    `session` is an id or a key.
    """

    q: str
    mode: str = "hybrid"
    kind: str = ""
    tool: str = ""
    model: str = ""
    agent: str = ""
    status: str = ""
    since: str = ""
    until: str = ""
    session: str = ""
    user: str = ""
    tag: str = ""
    min_cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The indexed rows (`x`) to consider: tables to join and conditions, with their parameters."""

    session: Session | None
    joined: str
    conditions: str
    facts: SqlParameters


def scope_of(project: Project, options: SearchOptions) -> Scope:
    """Return the steps of the project that match the filters. Raises `InvalidInput`, and `NotFound` for an unknown
    session.
    """
    for name, choices in (("mode", MODES), ("kind", ("", *KINDS)), ("status", ("", *STATUSES))):
        check_choice(name, getattr(options, name), choices)
    session = session_of(project, options.session) if options.session else None
    conditions = list(_conditions(options))
    facts = {
        name: storable(getattr(options, name)) for name in ("kind", "tool", "model", "agent", "user", "tag")
    }
    since, until = time_range(options.since, options.until, "step")
    whole = ["x.project_id = %(project)s", *(["x.session_id = %(session)s"] if session else []), *conditions]
    return Scope(
        session=session,
        joined=_JOINED if conditions else "",
        conditions=" AND ".join(whole),
        facts={
            "project": project.id,
            "session": session and session.id,
            **facts,
            "since": since,
            "until": until,
            "min_cost": options.min_cost,
        },
    )


def has_steps(scope: Scope) -> bool:
    """Return whether any indexed step matches, whatever its words. One query."""
    with connection.cursor() as cursor:
        rows = f"SELECT EXISTS (SELECT FROM tm_searched_action x {scope.joined} WHERE {scope.conditions})"  # noqa: S608
        cursor.execute(rows, scope.facts)
        return bool(cursor.fetchone()[0])


def _conditions(options: SearchOptions) -> Iterator[str]:
    for name, condition in _OF_ACTION.items():
        if getattr(options, name) not in ("", None):
            yield condition
    if options.status:
        yield _STATUS[options.status]


def check_choice(name: str, given: str, choices: Sequence[str]) -> None:
    """Raise `InvalidInput` for an option that is not one of its choices."""
    if given not in choices:
        allowed = [choice for choice in choices if choice]
        raise InvalidInput(
            f"`{name}` cannot be {given[:80]!r}; it must be one of {', '.join(allowed)}.",
            code="invalid_field",
            field=name,
            allowed=allowed,
        )


def time_range(since: str, until: str, noun: str) -> tuple[datetime | None, datetime | None]:
    """Return the times as given, each None if it is empty. Raises `InvalidInput` if no such `noun` can be between
    them.
    """
    begin = parse_field("since", since, parse_typed_start) if since else None
    end = parse_field("until", until, parse_typed_time) if until else None
    if begin and end and begin > end:
        raise InvalidInput(
            f"`since` ({written(begin)}) is later than `until` ({written(end)}), so no {noun} is in between.",
            code="invalid_field",
            field="since",
        )
    return begin, end
