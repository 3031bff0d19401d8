"""What was recalled as a text for a prompt, within so many tokens: session by session in the order of their beginning, each told in order.

The best results come first into the text, then the turns around them, the nearest first; whatever does not fit is left out, with a mark.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from timemachine.base.errors import Unavailable
from timemachine.memory.reading import Row, heads_of
from timemachine.memory.selection import gaps
from timemachine.memory.transcript import estimate
from timemachine.recall.queries import Recalled, Recollection
from timemachine.recording.models import Session
from timemachine.recording.told import LONGEST_COUNTED, left_out, paragraph, text_of, who_of
from timemachine.retrieval.embedding.wordllama import count_tokens

MOST_PASSED_OVER: Final = 24
"""After so many turns that were counted and did not fit, the text is full: to count a long one takes some milliseconds."""
SURELY_TOO_LONG: Final = 2
"""A turn of about so many times the tokens that are left is passed over without counting it."""
MARKS: Final = 2
"""How many marks of what is left out a turn may need: before and behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text for a prompt: how many tokens it has (`estimated` where the tokenizer is missing), and how many turns of how many sessions it tells."""

    text: str
    tokens: int
    estimated: bool
    turns: int
    sessions: int


@dataclass(slots=True)
class _Chosen:
    """The turns that are told, by session and step, as they were chosen."""

    budget: int
    texts: dict[tuple[UUID, int], str] = field(default_factory=dict)
    costs: dict[tuple[UUID, int], int] = field(default_factory=dict)
    sessions: dict[UUID, Session] = field(default_factory=dict)
    marks: dict[int, int] = field(default_factory=dict)
    """The tokens of a mark of so many turns."""
    spent: int = 0
    passed_over: int = 0

    @property
    def is_full(self) -> bool:
        return self.spent >= self.budget or self.passed_over >= MOST_PASSED_OVER

    def take(self, session: Session, sequence: int, text: str) -> None:
        """Take a turn where it fits, with what names its session and marks what is left out."""
        place = (session.id, sequence)
        left = self.budget - self.spent
        if place in self.texts or self.is_full or estimate(len(text.encode())) > SURELY_TOO_LONG * left:
            return
        header = (
            0 if session.id in self.sessions else tokens_of(_header(session, [sequence])) + tokens_of(_FIRST)
        )
        cost = tokens_of(text) + header + MARKS * self._mark(session.last_sequence)
        if cost > left:
            self.passed_over += 1
            return
        self.texts[place], self.costs[place] = text, cost
        self.sessions[session.id] = session
        self.spent += cost

    def _mark(self, turns: int) -> int:
        if turns not in self.marks:
            self.marks[turns] = tokens_of(paragraph(left_out(turns)))
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
    """The text, of at most so many tokens; empty where nothing was recalled, or nothing fits."""
    recalled = [each for answer in found.answers for each in answer.results]
    chosen = _Chosen(budget=budget)
    texts = _texts(recalled)
    for each in recalled:
        sequence = each.hit.action.sequence
        if text := texts.get((each.session.id, sequence)):
            chosen.take(each.session, sequence, text)
    for each in recalled:
        if chosen.is_full:
            break
        at = each.hit.action.sequence
        for row in sorted(each.around, key=lambda row: abs(row.turn.sequence - at)):
            chosen.take(each.session, row.turn.sequence, _paragraph(row))
    text = _composed(chosen)
    while (tokens := tokens_of(text)) > budget and chosen.texts:
        chosen.drop(tokens - budget)
        text = _composed(chosen)
    return Prompt(
        text=text,
        tokens=tokens,
        estimated=_counted("") is None,
        turns=len(chosen.texts),
        sessions=len(chosen.sessions),
    )


def _texts(recalled: Sequence[Recalled]) -> dict[tuple[UUID, int], str]:
    """The turns that were recalled, as they are told; those that stand whole among the turns around are not read again."""
    first: dict[tuple[UUID, int], Recalled] = {}
    for each in recalled:
        first.setdefault((each.session.id, each.hit.action.sequence), each)
    known = {
        (each.session.id, row.turn.sequence): row for each in recalled for row in each.around if not row.cut
    }
    read = known | heads_of([place for place in first if place not in known], LONGEST_COUNTED)
    return {place: _told(each, read[place]) for place, each in first.items() if place in read}


def _told(recalled: Recalled, row: Row) -> str:
    """The turn; of one that is very long the passage for which it was recalled."""
    told = _paragraph(row)
    passage = recalled.hit.passage
    if passage is None or not (row.cut or len(told.encode()) > LONGEST_COUNTED):
        return told
    turn = row.turn
    return paragraph(_sendable(f"[{turn.sequence}] {who_of(turn)}, a passage of it: … {passage.text} …"))


def _paragraph(row: Row) -> str:
    rest = " … [the rest of this turn is left out]" if row.cut else ""
    return paragraph(f"{_sendable(text_of(row.turn))}{rest}")


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
    named = f"Session {session.name!s} ({session.key}), begun {session.started_at:%Y-%m-%d %H:%M} UTC"
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
        yield paragraph(left_out(turns))


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
