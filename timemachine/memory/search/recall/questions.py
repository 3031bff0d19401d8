"""The options of a recall, checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.postgres_text import storable
from timemachine.memory.search.filters import MODES, check_choice, time_range
from timemachine.recording.annotations.significance.queries import IMPORTANCE_SQL, JOINED, SIGNIFICANCE_SQL
from timemachine.recording.sessions.models import BEGAN_AT, Session
from timemachine.recording.sessions.pure.vocabulary import KINDS, SIGNIFICANCES
from timemachine.recording.sessions.queries import IS_DATED, NEWEST_FIRST, session_of

MOST_QUERIES: Final = 20
LONGEST_QUERY: Final = 16_384
MOST_RESULTS: Final = 50
MOST_AROUND: Final = 20
MOST_TURNS: Final = 1_000
"""How many turns one request may return: queries × results × (turns around each and itself)."""
MOST_TOKENS: Final = 200_000
_SIGNIFICANCES: Final = f"""
SELECT a.id, {SIGNIFICANCE_SQL}, {IMPORTANCE_SQL} FROM tm_action a {JOINED}
WHERE a.project_id = %(project)s AND a.id = ANY(%(steps)s::bigint[])
"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """The options of a recall: separate `queries`, and which turns are searched for all of them; an empty value
    matches any.

    `agent` is the step's own, else its session's; `user` is the session's; `tags` are of either. One of several
    `tags`, `kinds` or `significances` is enough. `besides` is the asking session: it is not searched, and the
    previous session is the one before it. `time_words`: whether time expressions are read, in the `time_zone`;
    with `past_times` only those that look back ("last week", "2 days ago"), for a message that may plan as well
    as ask. `around`: how many turns before and after a result are returned with it. `budget`: how many tokens
    the text for a prompt may have; None for no text.
    """

    queries: tuple[str, ...]
    mode: str = "hybrid"
    agent: str = ""
    user: str = ""
    session: str = ""
    besides: str = ""
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    significances: tuple[str, ...] = ()
    min_importance: float | None = None
    since: str = ""
    until: str = ""
    time_words: bool = True
    past_times: bool = False
    time_zone: str = "UTC"
    around: int = 0
    limit: int = 10
    budget: int | None = None


def check(options: RecallOptions) -> ZoneInfo:
    """Return the time zone. Raises `InvalidInput`, which names the field."""
    if not options.queries or not all(query.strip() for query in options.queries):
        raise _refused("queries", "Enter what to recall. Each of `queries` must be a question or some words.")
    if len(options.queries) > MOST_QUERIES:
        raise _refused("queries", f"There are {len(options.queries)} queries; the limit is {MOST_QUERIES}.")
    longest = max(map(len, options.queries))
    if longest > LONGEST_QUERY:
        raise _refused("queries", f"A query has {longest:,} characters; the limit is {LONGEST_QUERY:,}.")
    _check_words(options)
    _check_numbers(options)
    time_range(options.since, options.until, "turn")
    return _zone(options.time_zone)


def significance_of_steps(
    project: Project, steps: Sequence[int]
) -> dict[int, tuple[str | None, float | None]]:
    """Return the significance and importance in force by step row, for those steps that are the project's. One
    query.
    """
    facts = {"project": project.id, "steps": list(steps)}
    return {
        row: (significance, worth)
        for row, significance, worth in prepared_statements.fetch_rows(_SIGNIFICANCES, facts)
    }


def sessions_of(project: Project, options: RecallOptions) -> QuerySet[Session]:
    """Return the project's sessions that have steps, filtered by agent and user."""
    found = Session.objects.of(project).filter(last_sequence__gt=0)
    for name in ("agent", "user"):
        if value := getattr(options, name):
            found = found.filter(**{name: storable(value)})
    return found


def previous_sessions(
    project: Project, options: RecallOptions, besides: Session | None, passed_over: int, count: int
) -> tuple[Session, ...]:
    """Return the `count` latest sessions that began before the asking one, most recent first, without the first
    `passed_over` and without those that have no times.
    """
    found = sessions_of(project, options)
    if besides is not None:
        began = besides.began_at or besides.started_at
        found = found.exclude(pk=besides.pk).alias(began=BEGAN_AT).filter(began__lte=began)
    latest = found.filter(IS_DATED).order_by(*NEWEST_FIRST)
    return tuple(latest[passed_over : passed_over + count])


def named_session(project: Project, name: str) -> Session | None:
    """Return the project's session with that id or key, or None for an empty name. Raises `NotFound`."""
    return session_of(project, name) if name else None


def _check_words(options: RecallOptions) -> None:
    known = {"mode": MODES, "kinds": KINDS, "significances": SIGNIFICANCES}
    for name, words in known.items():
        given = getattr(options, name)
        for word in (given,) if isinstance(given, str) else given:
            check_choice(name, word, words)


def _check_numbers(options: RecallOptions) -> None:
    bounds = {
        "limit": (1, MOST_RESULTS),
        "around": (0, MOST_AROUND),
        "min_importance": (0, 1),
        "budget": (1, MOST_TOKENS),
    }
    for name, (least, most) in bounds.items():
        given = getattr(options, name)
        if given is not None and not least <= given <= most:
            raise _refused(name, f"`{name}` must be a number from {least:,} to {most:,}.")
    turns = len(options.queries) * options.limit * (2 * options.around + 1)
    if turns > MOST_TURNS:
        raise _refused(
            "around",
            f"{len(options.queries)} queries with {options.limit} results and {options.around} turns before and after each are {turns:,} turns; "
            f"the limit is {MOST_TURNS:,}. Use fewer queries, a smaller `limit` or a smaller `around`.",
        )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as why:  # no such zone, or not a valid file name
        raise _refused(
            "time_zone", f"Unknown time zone {name[:80]!r}. Use a name like Europe/Berlin, or UTC."
        ) from why


def _refused(field: str, why: str) -> InvalidInput:
    return InvalidInput(why, code="invalid_field", field=field)
