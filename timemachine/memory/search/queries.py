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
from timemachine.core.pure.errors import InvalidInput, Unavailable
from timemachine.knowledge.embedding import table
from timemachine.knowledge.pure.fusion import fuse
from timemachine.memory.search.filters import Scope, SearchOptions, has_steps, scope_of
from timemachine.memory.search.hits import Hit, ScoredHit, hits_of
from timemachine.memory.search.indexing import MODEL, count_not_indexed
from timemachine.memory.search.models import SearchedAction
from timemachine.memory.search.pure.query import ParsedQuery, parse
from timemachine.memory.search.retrievers import (
    Candidate,
    DatabaseQuery,
    by_meaning,
    by_words,
    database_query,
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
    searched for.
    """

    session: Session
    hits: tuple[Hit, ...]
    number: int | None

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """The matching rows with their scores, and the rows of each session, best first."""

    score: Mapping[int, float]
    legs: Mapping[str, Mapping[int, float]]
    sessions: Mapping[UUID, Sequence[int]]
    numbers: Mapping[UUID, int]

    def place(self, session: UUID) -> tuple[float, int]:
        """Return the sort key of a session: best first, among equals the newest."""
        return -self.score[self.sessions[session][0]], -session.int


def search(project: Project, options: SearchOptions, *, limit: int, after: str | None = None) -> SearchResult:
    """Return at most `limit` sessions with matching steps, after the place `after`. The number of queries is
    constant.

    Raises `InvalidInput` for an invalid query, option or place, `NotFound` for an unknown session, and
    `Unavailable` if only the meaning is searched and its model is missing.
    """
    scope = scope_of(project, options)
    asked = parse(options.q)
    begin = None if after is None else _place(after)
    question = database_query(asked)
    rows, no_embeddings = _retrieve(question, asked, options, scope)
    ordered = sorted(rows.sessions, key=rows.place)
    if begin is not None:
        ordered = [session for session in ordered if rows.place(session) > begin]
    shown = ordered[:limit]
    return SearchResult(
        options=options,
        groups=_groups(project, shown, rows, (asked, question)),
        next=_written(rows.place(shown[-1])) if len(ordered) > limit else None,
        not_indexed=count_not_indexed(project),
        has_candidates=bool(rows.sessions) or has_steps(scope),
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


def _retrieve(
    question: DatabaseQuery, asked: ParsedQuery, options: SearchOptions, scope: Scope
) -> tuple[_Rows, str | None]:
    each = MOST_OF_ONE if scope.session else MOST_OF_SESSION
    text: list[Candidate] = [] if options.mode == "semantic" else by_words(question, scope, each)
    semantic: list[Candidate] = []
    missing = None
    if options.mode != "text":
        try:
            vector = table.query_vector(MODEL, asked.words)
            semantic = by_meaning(vector, MODEL.name, question, scope, each)
        except Unavailable as why:
            if options.mode == "semantic":
                raise
            missing = why.message
    return _rows(text, semantic, options.mode, each), missing


def _rows(text: Sequence[Candidate], semantic: Sequence[Candidate], mode: str, each: int) -> _Rows:
    legs = {
        name: {one.action: one.score for one in leg} for name, leg in (("text", text), ("semantic", semantic))
    }
    score = legs[mode] if mode in legs else fuse(legs["text"], legs["semantic"], MODEL.semantic_weight)
    session_of = {one.action: one.session for one in (*text, *semantic)}
    sessions: dict[UUID, list[int]] = {}
    for action in sorted(score, key=lambda row: (-score[row], row)):
        sessions.setdefault(session_of[action], []).append(action)
    return _Rows(
        score=score,
        legs=legs,
        sessions={session: actions[:each] for session, actions in sessions.items()},
        numbers={one.session: one.number for one in text},
    )


# --- results


def _groups(
    project: Project, shown: Sequence[UUID], rows: _Rows, looked_for: tuple[ParsedQuery, DatabaseQuery]
) -> tuple[SessionGroup, ...]:
    """Return the sessions with their steps, without sessions that were erased in the meantime."""
    sessions = sessions_by_id(project, shown)
    wanted = [action for session in shown for action in rows.sessions[session]]
    asked, question = looked_for
    named = frozenset(clause.text.lower() for clause in asked.required if clause.identifier)
    hits = hits_of(project, wanted, ScoredHit(score=rows.score, legs=rows.legs), question.stems, named)
    return tuple(
        SessionGroup(
            session=sessions[session],
            hits=tuple(hits[action] for action in rows.sessions[session] if action in hits),
            number=rows.numbers.get(session, 0) if rows.legs["text"] else None,
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
