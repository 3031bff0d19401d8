"""Sessions by their own words: name, key and tags."""

from collections.abc import Collection, Mapping
from typing import Final, Literal
from uuid import UUID

from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat

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
Part = Literal["name", "key", "tags"]
PARTS: Final[tuple[Part, ...]] = ("name", "key", "tags")


def named_sessions(project: Project, query: ParsedQuery, options: SearchOptions) -> Mapping[UUID, list[Part]]:
    """Return the sessions whose name, key and tags contain the words, each with which of these contain any, newest first.

    None for a search by meaning alone, within one session, or with a filter of steps. At most one query.
    """
    if options.mode == "semantic" or options.session or any(getattr(options, name) for name in _OF_STEPS):
        return {}
    if options.status in ("error", "ok"):
        return {}
    rows = _narrowed(Session.objects.of(project), options).annotate(words=_WORDS).filter(_holding(query))
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


def _holding(query: ParsedQuery) -> Q:
    any_group = Q()
    for group in query.groups:
        whole = Q()
        for clause in group:
            one = Q(words__icontains=storable(clause.text))
            whole &= ~one if clause.negated else one
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
