"""Sessions by their own words: name, key and tags."""

from collections.abc import Collection, Mapping
from typing import Final, Literal
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, Q, QuerySet, TextField, UUIDField, Value
from django.db.models.functions import Concat

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.pure.postgres_text import storable
from timemachine.memory.search.filters import SearchOptions
from timemachine.memory.search.pure.query import Clause, ParsedQuery
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import NEWEST_FIRST

MOST: Final = 10
"""How many sessions are found by their names and tags, the newest first."""
_OF_STEPS: Final = ("kind", "tool", "model", "since", "until")
_OF_SESSIONS: Final = ("agent", "user")
_TAGS: Final = Func(F("tags"), Value("\n"), function="array_to_string", output_field=TextField())
_WORDS: Final = Concat("name", Value("\n"), "key", Value("\n"), _TAGS, output_field=TextField())
_CONTAINING: Final = "(SELECT tm_sessions_with(%(expressions)s))"
_RARE: Final = """
WITH newest AS MATERIALIZED (
    SELECT upper(concat_ws(E'\\n', name, key, array_to_string(tags, E'\\n'))) AS words FROM tm_session WHERE project_id = %(project)s
    ORDER BY coalesce(first_step_at, started_at) DESC, id DESC LIMIT 1000
)
SELECT one.text FROM unnest(%(texts)s::text[]) AS one(text) WHERE length(one.text) >= 3
AND (SELECT count(*) FROM newest WHERE position(upper(one.text) IN newest.words) > 0) < 10
"""
Part = Literal["name", "key", "tags"]
PARTS: Final[tuple[Part, ...]] = ("name", "key", "tags")


def index_conditions(project: Project, texts: Collection[str]) -> dict[str, Q]:
    """Return for each text a condition that holds if a session's name, key or tags contain it.

    It selects the sessions by the index of their runs of three characters. It is empty for a text of one or two characters, which has no runs, and for
    one that many of the newest sessions have: reading from the newest on finds those faster. One query.
    """
    facts = {"project": project.id, "texts": [storable(each) for each in texts]}
    rare = {each for (each,) in prepared_statements.fetch_rows(_RARE, facts)} if texts else set()
    return {
        each: Q(id__in=_containing(project, key)) if (key := storable(each)) in rare else Q()
        for each in texts
    }


def _containing(project: Project, text: str) -> Func:
    """Return the subquery for the ids of sessions with every run of three characters of a text, by their index."""
    runs = Func(Value(text), function="tm_trigrams", output_field=ArrayField(TextField()))
    return Func(Value(project.id, UUIDField()), runs, template=_CONTAINING, output_field=UUIDField())


def named_sessions(project: Project, query: ParsedQuery, options: SearchOptions) -> Mapping[UUID, list[Part]]:
    """Return the sessions whose name, key and tags contain the words, each with which of these contain any, newest first.

    None for a search by meaning alone, within one session, or with a filter of steps. At most two queries.
    """
    if options.mode == "semantic" or options.session or any(getattr(options, name) for name in _OF_STEPS):
        return {}
    if options.status in ("error", "ok"):
        return {}
    indexed = index_conditions(project, {clause.text for clause in query.required})
    rows = _narrowed(Session.objects.of(project), options).alias(words=_WORDS)
    rows = rows.filter(_holding(query, indexed))
    found = rows.order_by(*NEWEST_FIRST).values_list("id", "name", "key", "tags")[:MOST]
    return {session: _parts(query, (name, key, *tags)) for session, name, key, tags in found}


def _narrowed(sessions: QuerySet[Session], options: SearchOptions) -> QuerySet[Session]:
    for name in (*_OF_SESSIONS, "status"):
        if value := getattr(options, name):
            sessions = sessions.filter(**{name: value})
    if options.tag:
        sessions = sessions.filter(tags__contains=[options.tag])
    if options.min_cost is not None:
        sessions = sessions.filter(cost_usd__gte=options.min_cost)
    return sessions


def _holding(query: ParsedQuery, indexed: Mapping[str, Q]) -> Q:
    any_group = Q()
    for group in query.groups:
        whole = Q()
        for clause in group:
            one = Q(words__icontains=storable(clause.text))
            whole &= ~one if clause.negated else one & indexed[clause.text]
        any_group |= whole
    return any_group


def _parts(query: ParsedQuery, words: tuple[str, ...]) -> list[Part]:
    name, key, *tags = words
    return [
        part
        for part, texts in zip(PARTS, ([name], [key], tags), strict=True)
        if any(_is_in(clause, texts) for clause in query.required)
    ]


def _is_in(clause: Clause, texts: Collection[str]) -> bool:
    return any(clause.text.lower() in text.lower() for text in texts)
