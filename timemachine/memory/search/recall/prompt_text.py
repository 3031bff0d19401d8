"""Format recalled turns as text for a prompt, within a token budget: sessions by their start, turns in order.

The best results are taken first, each with its outcomes, then the turns around them, nearest first. What does
not fit is left out, with a mark. Turns with the same words are included once, in the session with the most
outcomes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from timemachine.core.pure.errors import Unavailable
from timemachine.knowledge.embedding.wordllama import count_tokens
from timemachine.memory.search.recall.outcomes import OUTCOMES, SOLUTION, Outcomes, Place, outcomes_of
from timemachine.memory.search.recall.queries import RecalledTurn, RecallResult
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

MOST_SKIPPED: Final = 24
"""After this many turns that were counted and did not fit, the text is complete. Counting a long turn takes some
milliseconds.
"""
SURELY_TOO_LONG: Final = 2
"""A turn with about this many times the remaining tokens is skipped without counting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text for a prompt, its number of tokens (`estimated` if the tokenizer is missing), and of turns and
    sessions.

    `least`: if none of the recalled turns fits, the tokens of the shortest of the best ones with its session's
    header; else None.
    """

    text: str
    tokens: int
    estimated: bool
    turns: int
    sessions: int
    least: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TurnText:
    """A turn as text, with its session, its place, and the words that identify repetitions."""

    session: Session
    sequence: int
    words: str
    text: str

    @property
    def place(self) -> Place:
        return self.session.id, self.sequence


@dataclass(slots=True)
class _Selection:
    """The selected turns by session and step, in the order of selection."""

    budget: int
    texts: dict[Place, str] = field(default_factory=dict)
    costs: dict[Place, int] = field(default_factory=dict)
    sessions: dict[UUID, Session] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    beside: dict[UUID, int] = field(default_factory=dict)
    """The tokens of each session's header and marks."""
    marks: dict[int, int] = field(default_factory=dict)
    """The tokens of a mark by the number of left out turns."""
    spent: int = 0
    skipped: int = 0

    @property
    def is_full(self) -> bool:
        return self.spent >= self.budget or self.skipped >= MOST_SKIPPED

    def take(self, turn_text: _TurnText) -> bool:
        """Select a turn if it fits, with its session's header and marks. Return whether its words are now in the
        text.
        """
        if turn_text.words in self.words or turn_text.place in self.texts:
            return True
        left = self.budget - self.spent
        if self.is_full or estimate(len(turn_text.text.encode())) > SURELY_TOO_LONG * left:
            return False
        beside = self._beside(turn_text)
        cost = tokens_of(turn_text.text) + beside - self.beside.get(turn_text.session.id, 0)
        if cost > left:
            self.skipped += 1
            return False
        self.texts[turn_text.place], self.costs[turn_text.place] = turn_text.text, cost
        self.sessions[turn_text.session.id], self.beside[turn_text.session.id] = turn_text.session, beside
        self.words |= {turn_text.words} - {""}
        self.spent += cost
        return True

    def _beside(self, turn_text: _TurnText) -> int:
        """Return the tokens of the session's header and marks if the turn is selected, too."""
        session = turn_text.session
        sequences = sorted(
            [turn_text.sequence, *(sequence for of, sequence in self.texts if of == session.id)]
        )
        marks = filter(None, gaps(sequences, max(session.last_sequence, sequences[-1])))
        return tokens_of(_header(session, sequences)) + sum(map(self._mark, marks))

    def _mark(self, turns: int) -> int:
        if turns not in self.marks:
            self.marks[turns] = tokens_of(paragraph(omission_mark(turns)))
        return self.marks[turns]

    def drop(self, tokens: int) -> None:
        """Remove the turns that were selected last, at least one, until about this many tokens are saved."""
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


def prompt_text(found: RecallResult, budget: int) -> Prompt:
    """Return the text, with at most `budget` tokens; empty if nothing was recalled or nothing fits. Two queries."""
    recalled = [each for answer in found.answers for each in answer.results]
    outcomes = outcomes_of(found.project, recalled, found.options)
    texts = _texts(recalled, outcomes)
    best = _without_repetitions(recalled, texts, outcomes)
    chosen = _Selection(budget=budget, spent=tokens_of(_FIRST))
    for each in best:
        if chosen.take(each):
            _take_all(
                chosen, (texts[place] for place in outcomes.get(each.place, {}).values() if place in texts)
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


def _fitted(chosen: _Selection) -> str:
    """Return the text of the selected turns, removing the last selected ones if it is too long."""
    text = _composed(chosen)
    while (tokens := tokens_of(text)) > chosen.budget and chosen.texts:
        chosen.drop(tokens - chosen.budget)
        text = _composed(chosen)
    return text


def _take_all(chosen: _Selection, turns: Iterable[_TurnText]) -> None:
    for each in turns:
        chosen.take(each)


def _take_shortest(chosen: _Selection, best: Sequence[_TurnText]) -> int | None:
    """Select the shortest of the best turns if it fits alone; else return how many tokens it needs."""
    if not best:
        return None
    shortest = min(best[:MOST_SKIPPED], key=lambda each: len(each.text) + len(each.session.name))
    alone = _Selection(
        budget=0, texts={shortest.place: shortest.text}, sessions={shortest.session.id: shortest.session}
    )
    tokens = tokens_of(_composed(alone))
    if tokens > chosen.budget:
        return tokens
    chosen.texts, chosen.sessions, chosen.costs = alone.texts, alone.sessions, {shortest.place: tokens}
    return None


def _without_repetitions(
    recalled: Sequence[RecalledTurn], texts: Mapping[Place, _TurnText], outcomes: Outcomes
) -> list[_TurnText]:
    """Return the recalled turns in order, without repetitions, noting how many other sessions have the same words.

    Of repeated turns, the one with the most outcomes is chosen, else the best.
    """
    same: dict[str, list[_TurnText]] = {}
    for each in recalled:
        if one := texts.get(_place_of(each)):
            same.setdefault(one.words or str(one.place), []).append(one)
    worth = {_place_of(each): each.significance in OUTCOMES for each in recalled}

    def shown(one: _TurnText) -> tuple[bool, bool, int]:
        behind = outcomes.get(one.place, {})
        return worth[one.place], SOLUTION in behind, len(behind)

    return [_with_others(max(group, key=shown), group) for group in same.values()]


def _with_others(one: _TurnText, same: Sequence[_TurnText]) -> _TurnText:
    others = len({each.session.id for each in same} - {one.session.id})
    if not others:
        return one
    note = f"[also said in {others:,} other matching session{'s' if others > 1 else ''}]"
    return replace(one, text=paragraph(f"{one.text.rstrip()} {note}"))


def _place_of(recalled: RecalledTurn) -> Place:
    return recalled.session.id, recalled.hit.action.sequence


def _texts(recalled: Sequence[RecalledTurn], outcomes: Outcomes) -> dict[Place, _TurnText]:
    """Return the recalled turns and their outcomes as text. Complete turns around results are not read again."""
    first: dict[Place, RecalledTurn] = {}
    for each in recalled:
        first.setdefault(_place_of(each), each)
    sessions = {each.session.id: each.session for each in recalled}
    known = {
        (each.session.id, row.turn.sequence): row for each in recalled for row in each.around if not row.cut
    }
    places = dict.fromkeys([*first, *(place for behind in outcomes.values() for place in behind.values())])
    read = known | heads_of([place for place in places if place not in known], LONGEST_COUNTED)
    return {
        place: _result_text(first[place], read[place])
        if place in first
        else _turn_text(sessions[place[0]], read[place])
        for place in places
        if place in read
    }


def _result_text(recalled: RecalledTurn, row: Row) -> _TurnText:
    """Return the turn, or of a very long one the passage that matched."""
    turn_text = _turn_text(recalled.session, row)
    passage = recalled.hit.passage
    if passage is None or not (row.cut or len(turn_text.text.encode()) > LONGEST_COUNTED):
        return turn_text
    turn = row.turn
    text = paragraph(_sendable(f"[{turn.sequence}] {who_of(turn)}, an excerpt: … {passage.text} …"))
    return replace(turn_text, words=f"{who_of(turn)}: … {passage.text} …", text=text)


def _around(recalled: RecalledTurn) -> Iterator[_TurnText]:
    """Yield the turns around a result, nearest first."""
    at = recalled.hit.action.sequence
    for row in sorted(recalled.around, key=lambda row: abs(row.turn.sequence - at)):
        yield _turn_text(recalled.session, row)


def _turn_text(session: Session, row: Row) -> _TurnText:
    rest = " … [the rest of this turn is left out]" if row.cut else ""
    text = paragraph(f"{_sendable(text_of(row.turn))}{rest}")
    words = "" if row.cut else _words(row.turn)
    return _TurnText(session=session, sequence=row.turn.sequence, words=words, text=text)


def _words(turn: Turn) -> str:
    """Return the speaker and the words of a turn; empty for an empty or deleted turn, which equals no other."""
    content = " ".join(content_of(turn).split())
    return f"{who_of(turn)}: {content}" if content and turn.deleted is None else ""


def _composed(chosen: _Selection) -> str:
    """Return the text, earliest session first."""
    sessions = sorted(
        chosen.sessions.values(),
        key=lambda session: (session.first_step_at or session.started_at, session.id),
    )
    parts = [part for session in sessions for part in _session_text(session, chosen)]
    return "".join([_FIRST, *parts]).rstrip() if parts else ""


def _session_text(session: Session, chosen: _Selection) -> Iterator[str]:
    sequences = sorted(sequence for of, sequence in chosen.texts if of == session.id)
    last = max(session.last_sequence, sequences[-1])
    *before, behind = gaps(sequences, last)
    yield _header(session, sequences)
    for sequence, missing in zip(sequences, before, strict=True):
        yield from _mark(missing)
        yield chosen.texts[session.id, sequence]
    yield from _mark(behind)


def _header(session: Session, sequences: Sequence[int]) -> str:
    """Return the session's name, its start, and which of its steps follow."""
    begun = (
        "start not recorded" if session.began_at is None else f"begun {session.began_at:%Y-%m-%d %H:%M} UTC"
    )
    named = f"Session {session.name!s} ({session.key}), {begun}"
    steps = (
        f"step{'s' if len(sequences) > 1 else ''} {', '.join(_runs(sequences))} of {session.last_sequence:,}"
    )
    return paragraph(_sendable(f"{named}, {steps}:"))


def _runs(sequences: Iterable[int]) -> Iterator[str]:
    """Yield ranges of consecutive numbers: `3–5`, `9`."""
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
    """Return the number of tokens of a text, estimated if the tokenizer is missing."""
    counted = _counted(text)
    return estimate(len(text.encode())) if counted is None else counted


def _counted(text: str) -> int | None:
    try:
        return count_tokens(text)
    except Unavailable:
        return None


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
