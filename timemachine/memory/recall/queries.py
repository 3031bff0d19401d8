"""Recall: what earlier sessions of a project say to a question, best first, each turn with its session and step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Unavailable
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.embedding import table
from timemachine.knowledge.pure.fusion import fuse
from timemachine.memory.recall.conditions import Among, Times, among
from timemachine.memory.recall.pure.subject import subject_of
from timemachine.memory.recall.pure.time_words import Reading, Spoken, Unread, read
from timemachine.memory.recall.questions import Wanted, check, named_session, previous_sessions, weights_of
from timemachine.memory.recall.retrievers import Term, by_both, most_important, terms_of
from timemachine.memory.search.hits import Hit, Scored, hits_of
from timemachine.memory.search.indexing import MODEL, not_indexed
from timemachine.memory.search.retrievers import Ranked
from timemachine.memory.transcripts.turn_rows import Row, heads_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import sessions_by_id

BY_IMPORTANCE: Final = "importance"
LONGEST_AROUND: Final = 8 * 1024
"""How many bytes of what a turn around a result was given are told, of what it said, and of its error; `MOST_TOLD` of them have 16 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRead:
    """Words of a query that were read as a time. `sessions` are those before, the last one first, where they name any and there are some."""

    reading: Reading
    sessions: tuple[Session, ...] = ()

    @property
    def session(self) -> Session | None:
        """The last one of the sessions."""
        return self.sessions[0] if self.sessions else None

    @property
    def begin(self) -> datetime | None:
        """From when."""
        if not self.sessions:
            return self.reading.begin
        began = min(session.started_at for session in self.sessions)
        ended = max(session.ended_at or session.started_at for session in self.sessions)
        return {"": began, "after": ended}.get(self.reading.how)

    @property
    def until(self) -> datetime | None:
        """Up to when; None where it is open."""
        if not self.sessions:
            return self.reading.until
        ends = [session.ended_at for session in self.sessions if session.ended_at]
        ended = max(ends) if len(ends) == len(self.sessions) else None
        return {"": ended, "before": min(session.started_at for session in self.sessions)}.get(
            self.reading.how
        )

    @property
    def is_within_session(self) -> bool:
        """Whether only the sessions before are looked at."""
        return self.reading.previous_session and not (self.session and self.reading.how)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A turn that was recalled, with the significance and importance in force, and the turns around it where these were asked for.

    Of each of those at most `LONGEST_AROUND` bytes of what it was given, said and failed with.
    """

    session: Session
    hit: Hit
    significance: str | None
    importance: float | None
    around: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was recalled for one query: how it was read, what was looked for, and by what the results are ranked.

    `looked_for` is empty where the query names nothing to look for; then the most important turns are told. `unread` are words that look like a
    time and were looked for as words. `is_any_left`: whether any turn was there to be looked at.
    """

    query: str
    looked_for: str
    times: tuple[TimeRead, ...]
    unread: tuple[Unread, ...]
    ranked_by: str
    results: tuple[Recalled, ...]
    is_any_left: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What was recalled for each query. `no_embeddings` is why nothing was compared by meaning, None where it was, or was not to be."""

    project: Project
    wanted: Wanted
    answers: tuple[Answer, ...]
    not_indexed: int
    no_embeddings: str | None


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows that were found, best first, with their sessions and scores."""

    scored: Scored
    sessions: Mapping[int, UUID]
    terms: Sequence[Term]
    missing: str | None = None

    def best(self, limit: int) -> list[int]:
        """The rows, of equal ones the latest first."""
        score = self.scored.score
        return sorted(score, key=lambda row: (-score[row], -row))[:limit]


def recall(project: Project, wanted: Wanted, at: datetime | None = None) -> Recollection:
    """What the project's sessions say to each query, asked at a moment (now where none is named).

    Raises `InvalidInput` for what cannot be asked, `NotFound` for a session that is not the project's, and `Unavailable` where only the meaning
    is asked for and the model for it is missing.
    """
    zone = check(wanted)
    moment = at or now()
    besides = named_session(project, wanted.besides)
    within = named_session(project, wanted.session)
    answers, missing = [], None
    for query in wanted.queries:
        spoken = _spoken(wanted, query, moment, zone)
        times = tuple(_read_times(project, wanted, spoken, besides))
        looked_at = _among(project, wanted, times, within, besides)
        subject = subject_of(searchable(spoken.text))
        found = _found(looked_at, wanted, subject)
        missing = missing or found.missing
        results = _results(project, wanted, found)
        answers.append(
            Answer(
                query=query,
                looked_for=subject,
                times=times,
                unread=spoken.unread,
                ranked_by=wanted.mode if subject else BY_IMPORTANCE,
                results=results,
                is_any_left=bool(results) or _is_any_left(looked_at, subject),
            )
        )
    return Recollection(
        project=project,
        wanted=wanted,
        answers=_with_turns_around(answers, wanted.around),
        not_indexed=not_indexed(project),
        no_embeddings=missing,
    )


def _spoken(wanted: Wanted, query: str, moment: datetime, zone: ZoneInfo) -> Spoken:
    if not wanted.time_words:
        return Spoken(text=query, readings=())
    return read(query, moment, zone, only_past=wanted.past_times)


def _read_times(
    project: Project, wanted: Wanted, spoken: Spoken, besides: Session | None
) -> Iterator[TimeRead]:
    for reading in spoken.readings:
        sessions = (
            previous_sessions(project, wanted, besides, reading.passed_over, reading.sessions)
            if reading.previous_session
            else ()
        )
        yield TimeRead(reading=reading, sessions=sessions)


def _among(
    project: Project,
    wanted: Wanted,
    times: Sequence[TimeRead],
    within: Session | None,
    besides: Session | None,
) -> Among | None:
    """Which steps are looked at; None where there can be none, as there is no session before, or it is not the one that is asked for."""
    named = [time.sessions for time in times if time.is_within_session]
    sessions = {session.id for some in named for session in some}
    if within:
        sessions = {within.id} & sessions if named else {within.id}
    if (named or within) and not sessions:
        return None
    spans: Times = [(time.begin, time.until) for time in times if not time.is_within_session]
    return among(project, wanted, spans, sessions, besides)


def _found(steps: Among | None, wanted: Wanted, subject: str) -> _Found:
    if steps is None:
        return _Found(Scored(score={}, legs={}), {}, ())
    if not subject:
        leg = most_important(steps, wanted.limit)
        return _Found(Scored(score=_scores(leg), legs={}), _sessions(leg), ())
    terms = [] if wanted.mode == "semantic" else terms_of(steps.project, subject)
    vector, missing = ([], None) if wanted.mode == "text" else _vector(wanted, subject)
    text, semantic = by_both(steps, terms, vector)
    legs = {"text": _scores(text), "semantic": _scores(semantic)}
    score = legs.get(wanted.mode) or fuse(legs["text"], legs["semantic"], MODEL.semantic_weight)
    return _Found(Scored(score=score, legs=legs), _sessions([*text, *semantic]), terms, missing)


def _is_any_left(steps: Among | None, subject: str) -> bool:
    """Whether there is a turn among these though nothing was found; who looks for nothing finds what there is."""
    return steps is not None and bool(subject) and bool(most_important(steps, 1))


def _vector(wanted: Wanted, subject: str) -> tuple[list[float], str | None]:
    """What is looked for as a vector, or why there is none."""
    try:
        return table.question_vector(MODEL, subject), None
    except Unavailable as why:
        if wanted.mode == "semantic":
            raise
        return [], why.message


def _scores(leg: Sequence[Ranked]) -> dict[int, float]:
    return {one.action: one.score for one in leg}


def _sessions(leg: Sequence[Ranked]) -> dict[int, UUID]:
    return {one.action: one.session for one in leg}


# --- what is shown of it


def _results(project: Project, wanted: Wanted, found: _Found) -> tuple[Recalled, ...]:
    """The turns with their sessions; one that is erased meanwhile is left out."""
    best = found.best(wanted.limit)
    stems = frozenset(term.term for term in found.terms if not term.term.startswith("="))
    named = frozenset(term.term[1:] for term in found.terms if term.term.startswith("="))
    hits = hits_of(project, best, found.scored, stems, named)
    sessions = sessions_by_id(project, {found.sessions[row] for row in hits})
    weights = weights_of(project, list(hits))
    return tuple(
        Recalled(
            session=sessions[found.sessions[row]],
            hit=hits[row],
            significance=weights[row][0],
            importance=weights[row][1],
        )
        for row in best
        if row in hits and row in weights and found.sessions[row] in sessions
    )


def _with_turns_around(answers: Sequence[Answer], turns: int) -> tuple[Answer, ...]:
    """The answers with the turns around each result; a turn around several is read once."""
    if not turns:
        return tuple(answers)
    results = [each for answer in answers for each in answer.results]
    wanted = {(each.session.id, sequence) for each in results for sequence in _window(each, turns)}
    read = heads_of(sorted(wanted), LONGEST_AROUND)
    return tuple(
        replace(
            answer,
            results=tuple(replace(each, around=_around(each, turns, read)) for each in answer.results),
        )
        for answer in answers
    )


def _around(recalled: Recalled, turns: int, read: Mapping[tuple[UUID, int], Row]) -> tuple[Row, ...]:
    places = ((recalled.session.id, sequence) for sequence in _window(recalled, turns))
    return tuple(read[place] for place in places if place in read)


def _window(recalled: Recalled, turns: int) -> range:
    sequence = recalled.hit.action.sequence
    last = max(sequence, min(recalled.session.last_sequence, sequence + turns))
    return range(max(1, sequence - turns), last + 1)
