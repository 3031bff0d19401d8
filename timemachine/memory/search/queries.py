"""Search: the sessions with matching steps, best first, each with its best steps."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.search.filters import Scope, SearchOptions, has_steps, scope_of
from timemachine.memory.search.hits import Hit, hits_of
from timemachine.memory.search.indexing import count_not_indexed
from timemachine.memory.search.models import SearchedAction
from timemachine.memory.search.names import Part, named_sessions
from timemachine.memory.search.pure.query import ParsedQuery, parse
from timemachine.memory.search.retrievers import (
    DatabaseQuery,
    RankedSteps,
    by_meaning,
    by_words,
    database_query,
    fused,
    vector_of,
)
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import sessions_by_id

MOST_OF_SESSION: Final = 5
"""How many steps of a session are shown if several sessions are searched."""
MOST_OF_ONE: Final = 100
"""How many steps are shown if one session is searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionGroup:
    """A session with its best steps. `number` is how many of its steps contain the words; None if no words were
    searched for. `named` says where the session itself has them: in its name, key or tags.
    """

    session: Session
    hits: tuple[Hit, ...]
    number: int | None
    named: tuple[Part, ...] = ()

    @property
    def more(self) -> int:
        """Return how many steps that contain the words are not shown."""
        return max(0, (self.number or 0) - sum("text" in hit.scores for hit in self.hits))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The result of a search. `next` is the opaque place of the next page; `not_indexed` is how many steps are not
    searchable yet.

    `has_candidates`: whether any step matched the filters. `too_common`: no word was rare enough to search for.
    `no_embeddings` is why nothing was searched by meaning; None if it was, or was not requested.
    """

    options: SearchOptions
    groups: tuple[SessionGroup, ...]
    next: str | None
    not_indexed: int
    has_candidates: bool
    too_common: bool
    no_embeddings: str | None

    @property
    def only_similar(self) -> bool:
        """Return whether words were searched for, but every step was found by its meaning."""
        searched = self.options.mode != "semantic" and not self.too_common
        return searched and all(group.number is None for group in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matches:
    """The matching rows of all sessions, those of each session, best first, and how many steps contain the words."""

    ranked: RankedSteps
    sessions: Mapping[UUID, Sequence[int]]
    numbers: Mapping[UUID, int]

    def place(self, session: UUID) -> tuple[float, int]:
        """Return the sort key of a session: best first, among equals the newest."""
        return -self.ranked.score[self.sessions[session][0]], -session.int


def search(project: Project, options: SearchOptions, *, limit: int, after: str | None = None) -> SearchResult:
    """Return at most `limit` sessions with matching steps, after the place `after`. The number of queries is
    constant.

    The first page begins with sessions whose own name, key or tags match, in addition to the limit. They are on no other page.

    Raises `InvalidInput` for an invalid query, option or place, `NotFound` for an unknown session, and
    `Unavailable` if only the meaning is searched and its model is missing.
    """
    scope = scope_of(project, options)
    query = parse(options.q)
    begin = None if after is None else _place(after)
    question = database_query(query)
    found, no_embeddings = _matches(question, query, options, scope)
    named = named_sessions(project, query, options)
    ordered = sorted(found.sessions.keys() - named.keys(), key=found.place)
    if begin is not None:
        ordered = [session for session in ordered if found.place(session) > begin]
    shown = ordered[:limit]
    return SearchResult(
        options=options,
        groups=_groups(project, shown, found, (query, question), named if begin is None else {}),
        next=_written(found.place(shown[-1])) if len(ordered) > limit else None,
        not_indexed=count_not_indexed(project),
        has_candidates=bool(found.sessions) or has_steps(scope),
        too_common=not question.query and options.mode != "semantic",
        no_embeddings=no_embeddings,
    )


def sessions_with_words(project: Project, text: str) -> QuerySet[SearchedAction, UUID]:
    """Return the ids of the project's sessions with an indexed step that matches the query, as a subquery. Runs
    two queries.

    Raises `InvalidInput` for an invalid query.
    """
    query = database_query(parse(text)).query
    holding = RawSQL("words @@ %s::tsquery", [query], BooleanField())
    return SearchedAction.objects.filter(holding, project=project).values_list("session_id", flat=True)


def _matches(
    question: DatabaseQuery, query: ParsedQuery, options: SearchOptions, scope: Scope
) -> tuple[_Matches, str | None]:
    each = MOST_OF_ONE if scope.session else MOST_OF_SESSION
    text = [] if options.mode == "semantic" else by_words(question, scope, each)
    vector, missing = vector_of(query.words, options.mode)
    ranked = fused(text, by_meaning(vector, question, scope, each), options.mode)
    sessions: dict[UUID, list[int]] = {}
    for action in sorted(ranked.score, key=lambda row: (-ranked.score[row], row)):
        sessions.setdefault(ranked.sessions[action], []).append(action)
    found = _Matches(
        ranked=ranked,
        sessions={session: actions[:each] for session, actions in sessions.items()},
        numbers={one.session: one.number for one in text},
    )
    return found, missing


# --- results


def _groups(
    project: Project,
    shown: Sequence[UUID],
    found: _Matches,
    looked_for: tuple[ParsedQuery, DatabaseQuery],
    named_of: Mapping[UUID, Sequence[Part]],
) -> tuple[SessionGroup, ...]:
    """Return the sessions with their steps, those first that are named so, without sessions that were deleted in the meantime."""
    shown = [*named_of, *shown]
    sessions = sessions_by_id(project, shown)
    query, question = looked_for
    named = frozenset(clause.text.lower() for clause in query.required if clause.identifier)
    rows = [action for session in shown for action in found.sessions.get(session, ())]
    hits = hits_of(project, rows, found.ranked, question.stems, named)
    return tuple(
        SessionGroup(
            session=sessions[session],
            hits=tuple(hits[action] for action in found.sessions.get(session, ()) if action in hits),
            number=found.numbers.get(session, 0) if found.ranked.by_retriever["text"] else None,
            named=tuple(named_of.get(session, ())),
        )
        for session in shown
        if session in sessions
    )


def _written(place: tuple[float, int]) -> str:
    score, session = place
    return base64.urlsafe_b64encode(json.dumps([score, str(session)]).encode()).decode().rstrip("=")


def _place(after: str) -> tuple[float, int]:
    try:
        written: Any = json.loads(base64.urlsafe_b64decode(after + "=" * (-len(after) % 4)))
        score, session = written
        return float(score), int(session)
    except (binascii.Error, ValueError, TypeError, RecursionError, OverflowError) as why:
        raise InvalidInput(
            "Invalid page. Open the search from its first page.", code="unknown_after"
        ) from why
