"""What was recalled as a text for a prompt, within so many tokens: session by session in the order of their beginning, each told in order.

The best results come first into the text, each with what came of it in its session, then the turns around them, the nearest first; whatever
does not fit is left out, with a mark. Words that several turns said stand there once, in the session that shows what came of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from timemachine.core.pure.errors import Unavailable
from timemachine.knowledge.embedding.wordllama import count_tokens
from timemachine.memory.recall.outcomes import OUTCOMES, SOLUTION, Outcomes, Place, outcomes_of
from timemachine.memory.recall.queries import Recalled, Recollection
from timemachine.memory.transcripts.pure.selection import gaps
from timemachine.memory.transcripts.transcript import estimate
from timemachine.memory.transcripts.turn_rows import Row, heads_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.turn_text import (
    LONGEST_COUNTED,
    Turn,
    content_of,
    omission_mark,
    paragraph,
    text_of,
    who_of,
)

MOST_PASSED_OVER: Final = 24
"""After so many turns that were counted and did not fit, the text is full: to count a long one takes some milliseconds."""
SURELY_TOO_LONG: Final = 2
"""A turn of about so many times the tokens that are left is passed over without counting it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text for a prompt: how many tokens it has (`estimated` where the tokenizer is missing), and how many turns of how many sessions it tells.

    `least`: where turns were recalled and none fits, how many tokens the shortest of the best ones takes, with what names its session; else None.
    """

    text: str
    tokens: int
    estimated: bool
    turns: int
    sessions: int
    least: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A turn as it can be told: its session, its place in it, its words by which it is the same as another, and its text."""

    session: Session
    sequence: int
    words: str
    text: str

    @property
    def place(self) -> Place:
        return self.session.id, self.sequence


@dataclass(slots=True)
class _Chosen:
    """The turns that are told, by session and step, as they were chosen."""

    budget: int
    texts: dict[Place, str] = field(default_factory=dict)
    costs: dict[Place, int] = field(default_factory=dict)
    sessions: dict[UUID, Session] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    beside: dict[UUID, int] = field(default_factory=dict)
    """The tokens of what names each session, and of its marks."""
    marks: dict[int, int] = field(default_factory=dict)
    """The tokens of a mark of so many turns."""
    spent: int = 0
    passed_over: int = 0

    @property
    def is_full(self) -> bool:
        return self.spent >= self.budget or self.passed_over >= MOST_PASSED_OVER

    def take(self, said: _Said) -> bool:
        """Take a turn where it fits, with what names its session and marks what is left out; whether its words are told now."""
        if said.words in self.words or said.place in self.texts:
            return True
        left = self.budget - self.spent
        if self.is_full or estimate(len(said.text.encode())) > SURELY_TOO_LONG * left:
            return False
        beside = self._beside(said)
        cost = tokens_of(said.text) + beside - self.beside.get(said.session.id, 0)
        if cost > left:
            self.passed_over += 1
            return False
        self.texts[said.place], self.costs[said.place] = said.text, cost
        self.sessions[said.session.id], self.beside[said.session.id] = said.session, beside
        self.words |= {said.words} - {""}
        self.spent += cost
        return True

    def _beside(self, said: _Said) -> int:
        """The tokens of what names the session and of the marks in it, once the turn is told, too."""
        session = said.session
        told = sorted([said.sequence, *(sequence for of, sequence in self.texts if of == session.id)])
        marks = filter(None, gaps(told, max(session.last_sequence, told[-1])))
        return tokens_of(_header(session, told)) + sum(map(self._mark, marks))

    def _mark(self, turns: int) -> int:
        if turns not in self.marks:
            self.marks[turns] = tokens_of(paragraph(omission_mark(turns)))
        return self.marks[turns]

    def drop(self, tokens: int) -> None:
        """Leave out those that were chosen last, until about so many tokens are saved: one at least."""
        saved = 0
        while self.texts and saved < tokens:
            saved += self._drop_one()

    def _drop_one(self) -> int:
        place, _ = self.texts.popitem()
        session = place[0]
        if not any(each == session for each, _ in self.texts):
            del self.sessions[session]
        return self.costs.pop(place)


_FIRST: Final = "From earlier sessions:\n\n"


def prompt_of(found: Recollection, budget: int) -> Prompt:
    """The text, of at most so many tokens; empty where nothing was recalled, or nothing fits. Two queries."""
    recalled = [each for answer in found.answers for each in answer.results]
    outcomes = outcomes_of(found.project, recalled, found.wanted)
    said = _texts(recalled, outcomes)
    best = _told_once(recalled, said, outcomes)
    chosen = _Chosen(budget=budget, spent=tokens_of(_FIRST))
    for each in best:
        if chosen.take(each):
            _take_all(
                chosen, (said[place] for place in outcomes.get(each.place, {}).values() if place in said)
            )
    for around in recalled:
        if chosen.is_full:
            break
        _take_all(chosen, _around(around))
    text = _fitted(chosen)
    least = None
    if not text:
        least = _take_shortest(chosen, best)
        text = _composed(chosen)
    return Prompt(
        text=text,
        tokens=tokens_of(text),
        estimated=_counted("") is None,
        turns=len(chosen.texts),
        sessions=len(chosen.sessions),
        least=least,
    )


def _fitted(chosen: _Chosen) -> str:
    """The text of what was chosen, without those chosen last where it is too long."""
    text = _composed(chosen)
    while (tokens := tokens_of(text)) > chosen.budget and chosen.texts:
        chosen.drop(tokens - chosen.budget)
        text = _composed(chosen)
    return text


def _take_all(chosen: _Chosen, turns: Iterable[_Said]) -> None:
    for each in turns:
        chosen.take(each)


def _take_shortest(chosen: _Chosen, best: Sequence[_Said]) -> int | None:
    """Take the one of the best that is the shortest to tell alone, where it fits as it stands; else say how many tokens it takes."""
    if not best:
        return None
    shortest = min(best[:MOST_PASSED_OVER], key=lambda each: len(each.text) + len(each.session.name))
    alone = _Chosen(
        budget=0, texts={shortest.place: shortest.text}, sessions={shortest.session.id: shortest.session}
    )
    tokens = tokens_of(_composed(alone))
    if tokens > chosen.budget:
        return tokens
    chosen.texts, chosen.sessions, chosen.costs = alone.texts, alone.sessions, {shortest.place: tokens}
    return None


def _told_once(recalled: Sequence[Recalled], said: Mapping[Place, _Said], outcomes: Outcomes) -> list[_Said]:
    """The turns that were recalled, in their order; of those with the same words one, and how many other sessions said them.

    It is the one behind which the session shows most, else the best.
    """
    same: dict[str, list[_Said]] = {}
    for each in recalled:
        if one := said.get(_place_of(each)):
            same.setdefault(one.words or str(one.place), []).append(one)
    worth = {_place_of(each): each.significance in OUTCOMES for each in recalled}

    def shown(one: _Said) -> tuple[bool, bool, int]:
        behind = outcomes.get(one.place, {})
        return worth[one.place], SOLUTION in behind, len(behind)

    return [_with_others(max(group, key=shown), group) for group in same.values()]


def _with_others(one: _Said, same: Sequence[_Said]) -> _Said:
    others = len({each.session.id for each in same} - {one.session.id})
    if not others:
        return one
    note = f"[said in {others:,} other session{'s' if others > 1 else ''} that {'were' if others > 1 else 'was'} found, too]"
    return replace(one, text=paragraph(f"{one.text.rstrip()} {note}"))


def _place_of(recalled: Recalled) -> Place:
    return recalled.session.id, recalled.hit.action.sequence


def _texts(recalled: Sequence[Recalled], outcomes: Outcomes) -> dict[Place, _Said]:
    """The turns that were recalled and their outcomes, as they are told; those that stand whole among the turns around are not read again."""
    first: dict[Place, Recalled] = {}
    for each in recalled:
        first.setdefault(_place_of(each), each)
    sessions = {each.session.id: each.session for each in recalled}
    known = {
        (each.session.id, row.turn.sequence): row for each in recalled for row in each.around if not row.cut
    }
    wanted = dict.fromkeys([*first, *(place for behind in outcomes.values() for place in behind.values())])
    read = known | heads_of([place for place in wanted if place not in known], LONGEST_COUNTED)
    return {
        place: _told(first[place], read[place]) if place in first else _said(sessions[place[0]], read[place])
        for place in wanted
        if place in read
    }


def _told(recalled: Recalled, row: Row) -> _Said:
    """The turn; of one that is very long the passage for which it was recalled."""
    told = _said(recalled.session, row)
    passage = recalled.hit.passage
    if passage is None or not (row.cut or len(told.text.encode()) > LONGEST_COUNTED):
        return told
    turn = row.turn
    text = paragraph(_sendable(f"[{turn.sequence}] {who_of(turn)}, a passage of it: … {passage.text} …"))
    return replace(told, words=f"{who_of(turn)}: … {passage.text} …", text=text)


def _around(recalled: Recalled) -> Iterator[_Said]:
    """The turns around, the nearest first."""
    at = recalled.hit.action.sequence
    for row in sorted(recalled.around, key=lambda row: abs(row.turn.sequence - at)):
        yield _said(recalled.session, row)


def _said(session: Session, row: Row) -> _Said:
    rest = " … [the rest of this turn is left out]" if row.cut else ""
    text = paragraph(f"{_sendable(text_of(row.turn))}{rest}")
    words = "" if row.cut else _words(row.turn)
    return _Said(session=session, sequence=row.turn.sequence, words=words, text=text)


def _words(turn: Turn) -> str:
    """Who said what; empty where nothing was, or it was deleted: then it is the same as no other."""
    content = " ".join(content_of(turn).split())
    return f"{who_of(turn)}: {content}" if content and turn.deleted is None else ""


def _composed(chosen: _Chosen) -> str:
    """Session by session, the earliest first."""
    sessions = sorted(chosen.sessions.values(), key=lambda session: (session.started_at, session.id))
    parts = [part for session in sessions for part in _told_session(session, chosen)]
    return "".join([_FIRST, *parts]).rstrip() if parts else ""


def _told_session(session: Session, chosen: _Chosen) -> Iterator[str]:
    told = sorted(sequence for of, sequence in chosen.texts if of == session.id)
    last = max(session.last_sequence, told[-1])
    *before, behind = gaps(told, last)
    yield _header(session, told)
    for sequence, missing in zip(told, before, strict=True):
        yield from _mark(missing)
        yield chosen.texts[session.id, sequence]
    yield from _mark(behind)


def _header(session: Session, told: Sequence[int]) -> str:
    """The session, when it began, and which of its steps are told."""
    begun = "with no times, imported" if session.is_undated else "begun"
    named = f"Session {session.name!s} ({session.key}), {begun} {session.started_at:%Y-%m-%d %H:%M} UTC"
    steps = f"step{'s' if len(told) > 1 else ''} {', '.join(_runs(told))} of {session.last_sequence:,}"
    return paragraph(_sendable(f"{named}, {steps}:"))


def _runs(sequences: Iterable[int]) -> Iterator[str]:
    """`3–5`, `9`: what follows on one another is one run."""
    begin = end = 0
    for sequence in sequences:
        if begin and sequence > end + 1:
            yield _run(begin, end)
            begin = 0
        begin, end = begin or sequence, sequence
    yield _run(begin, end)


def _run(begin: int, end: int) -> str:
    return f"{begin:,}" if begin == end else f"{begin:,}–{end:,}"


def _mark(turns: int) -> Iterator[str]:
    if turns:
        yield paragraph(omission_mark(turns))


def tokens_of(text: str) -> int:
    """How many tokens a text has; about how many, where the tokenizer is missing."""
    counted = _counted(text)
    return estimate(len(text.encode())) if counted is None else counted


def _counted(text: str) -> int | None:
    try:
        return count_tokens(text)
    except Unavailable:
        return None


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
