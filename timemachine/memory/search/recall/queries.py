"""Recall: turns of a project's earlier sessions that answer a question, best first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.postgres_text import searchable
from timemachine.memory.search.hits import Hit, hits_of
from timemachine.memory.search.indexing import count_not_indexed
from timemachine.memory.search.recall.conditions import StepScope, Times, step_scope
from timemachine.memory.search.recall.pure.subject import subject_of
from timemachine.memory.search.recall.pure.time_words import ParsedQuestion, Reading, Unread, parse_question
from timemachine.memory.search.recall.questions import (
    RecallOptions,
    check,
    named_session,
    previous_sessions,
    significance_of_steps,
)
from timemachine.memory.search.recall.retrievers import Term, by_both, most_important, terms_of
from timemachine.memory.search.retrievers import RankedSteps, fused, vector_of
from timemachine.memory.transcripts.turn_rows import Row, heads_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import sessions_by_id

BY_IMPORTANCE: Final = "importance"
LONGEST_AROUND: Final = 8 * 1024
"""How many bytes of the input, output and error of a turn around a result are read; `MOST_TURNS` turns then have 16
MiB.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRead:
    """A time expression of a query. `sessions` are the previous sessions that it names, most recent first."""

    reading: Reading
    sessions: tuple[Session, ...] = ()

    @property
    def session(self) -> Session | None:
        """Return the most recent of the sessions."""
        return self.sessions[0] if self.sessions else None

    @property
    def begin(self) -> datetime | None:
        """Return the begin of the time."""
        if not self.sessions:
            return self.reading.begin
        ended = max(session.ended_at or _began(session) for session in self.sessions)
        return {"": min(map(_began, self.sessions)), "after": ended}.get(self.reading.how)

    @property
    def until(self) -> datetime | None:
        """Return the end of the time; None if it is open."""
        if not self.sessions:
            return self.reading.until
        ends = [session.ended_at for session in self.sessions if session.ended_at]
        ended = max(ends) if len(ends) == len(self.sessions) else None
        return {"": ended, "before": min(map(_began, self.sessions))}.get(self.reading.how)

    @property
    def is_within_session(self) -> bool:
        """Return whether only previous sessions are searched."""
        return self.reading.previous_session and not (self.session and self.reading.how)


def _began(session: Session) -> datetime:
    return session.began_at or session.started_at


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledTurn:
    """A turn that was recalled, with the significance and importance in force, and the turns around it if
    requested.

    Each of those has at most `LONGEST_AROUND` bytes of input, output and error.
    """

    session: Session
    hit: Hit
    significance: str | None
    importance: float | None
    around: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """The result for one query: how it was read, what was searched for, and how results are ranked.

    `looked_for` is empty if the query has no subject; then the most important turns are returned. `unread` are
    words that look like a time and were searched as words. `has_candidates`: whether any turn matched the filters.
    """

    query: str
    looked_for: str
    times: tuple[TimeRead, ...]
    unread: tuple[Unread, ...]
    ranked_by: str
    results: tuple[RecalledTurn, ...]
    has_candidates: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The results for all queries. `no_embeddings` is why nothing was searched by meaning; None if it was, or was
    not requested.
    """

    project: Project
    options: RecallOptions
    answers: tuple[QueryResult, ...]
    not_indexed: int
    no_embeddings: str | None


@dataclass(frozen=True, slots=True)
class _Matches:
    """The matching rows, the words of the question, and why nothing was searched by meaning."""

    ranked: RankedSteps
    terms: Sequence[Term] = ()
    missing: str | None = None

    def best(self, limit: int) -> list[int]:
        """Return the best rows; among equals the latest first."""
        score = self.ranked.score
        return sorted(score, key=lambda row: (-score[row], -row))[:limit]


def recall(project: Project, options: RecallOptions, at: datetime | None = None) -> RecallResult:
    """Return the results for each query, asked at a time (default: now).

    Raises `InvalidInput` for invalid options, `NotFound` for an unknown session, and `Unavailable` if only the
    meaning is searched and its model is missing.
    """
    zone = check(options)
    moment = at or now()
    besides = named_session(project, options.besides)
    within = named_session(project, options.session)
    answers, missing = [], None
    for query in options.queries:
        spoken = _parsed(options, query, moment, zone)
        times = tuple(_read_times(project, options, spoken, besides))
        looked_at = _scope(project, options, times, within, besides)
        subject = subject_of(searchable(spoken.text))
        found = _matches(looked_at, options, subject)
        missing = missing or found.missing
        results = _results(project, options, found)
        answers.append(
            QueryResult(
                query=query,
                looked_for=subject,
                times=times,
                unread=spoken.unread,
                ranked_by=options.mode if subject else BY_IMPORTANCE,
                results=results,
                has_candidates=bool(results) or _has_candidates(looked_at, subject),
            )
        )
    return RecallResult(
        project=project,
        options=options,
        answers=_with_turns_around(answers, options.around),
        not_indexed=count_not_indexed(project),
        no_embeddings=missing,
    )


def _parsed(options: RecallOptions, query: str, moment: datetime, zone: ZoneInfo) -> ParsedQuestion:
    if not options.time_words:
        return ParsedQuestion(text=query, readings=())
    return parse_question(query, moment, zone, only_past=options.past_times)


def _read_times(
    project: Project, options: RecallOptions, spoken: ParsedQuestion, besides: Session | None
) -> Iterator[TimeRead]:
    for reading in spoken.readings:
        sessions = (
            previous_sessions(project, options, besides, reading.passed_over, reading.sessions)
            if reading.previous_session
            else ()
        )
        yield TimeRead(reading=reading, sessions=sessions)


def _scope(
    project: Project,
    options: RecallOptions,
    times: Sequence[TimeRead],
    within: Session | None,
    besides: Session | None,
) -> StepScope | None:
    """Return the steps to search; None if there are none, because a named previous session does not exist or is
    not the requested one.
    """
    named = [time.sessions for time in times if time.is_within_session]
    sessions = {session.id for some in named for session in some}
    if within:
        sessions = {within.id} & sessions if named else {within.id}
    if (named or within) and not sessions:
        return None
    spans: Times = [(time.begin, time.until) for time in times if not time.is_within_session]
    return step_scope(project, options, spans, sessions, besides)


def _matches(steps: StepScope | None, options: RecallOptions, subject: str) -> _Matches:
    if steps is None:
        return _Matches(RankedSteps.in_order([]))
    if not subject:
        return _Matches(RankedSteps.in_order(most_important(steps, options.limit)))
    terms = [] if options.mode == "semantic" else terms_of(steps.project, subject)
    vector, missing = vector_of(subject, options.mode)
    return _Matches(fused(*by_both(steps, terms, vector), options.mode), terms, missing)


def _has_candidates(steps: StepScope | None, subject: str) -> bool:
    """Return whether any of the steps could be found with other words; without a subject every turn is found
    anyway.
    """
    return steps is not None and bool(subject) and bool(most_important(steps, 1))


# --- results


def _results(project: Project, options: RecallOptions, found: _Matches) -> tuple[RecalledTurn, ...]:
    """Return the turns with their sessions, without sessions that were erased in the meantime."""
    best = found.best(options.limit)
    stems = frozenset(term.term for term in found.terms if not term.term.startswith("="))
    named = frozenset(term.term[1:] for term in found.terms if term.term.startswith("="))
    hits = hits_of(project, best, found.ranked, stems, named)
    sessions = sessions_by_id(project, {found.ranked.sessions[row] for row in hits})
    significances = significance_of_steps(project, list(hits))
    return tuple(
        RecalledTurn(
            session=sessions[found.ranked.sessions[row]],
            hit=hits[row],
            significance=significances[row][0],
            importance=significances[row][1],
        )
        for row in best
        if row in hits and row in significances and found.ranked.sessions[row] in sessions
    )


def _with_turns_around(answers: Sequence[QueryResult], turns: int) -> tuple[QueryResult, ...]:
    """Add the turns around each result; each turn is read once."""
    if not turns:
        return tuple(answers)
    results = [each for answer in answers for each in answer.results]
    places = {(each.session.id, sequence) for each in results for sequence in _window(each, turns)}
    turns_read = heads_of(sorted(places), LONGEST_AROUND)
    return tuple(
        replace(
            answer,
            results=tuple(replace(each, around=_around(each, turns, turns_read)) for each in answer.results),
        )
        for answer in answers
    )


def _around(
    recalled: RecalledTurn, turns: int, turns_read: Mapping[tuple[UUID, int], Row]
) -> tuple[Row, ...]:
    places = ((recalled.session.id, sequence) for sequence in _window(recalled, turns))
    return tuple(turns_read[place] for place in places if place in turns_read)


def _window(recalled: RecalledTurn, turns: int) -> range:
    sequence = recalled.hit.action.sequence
    last = max(sequence, min(recalled.session.last_sequence, sequence + turns))
    return range(max(1, sequence - turns), last + 1)
