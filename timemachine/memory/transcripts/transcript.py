"""A session told again: every turn in its order, or those that matter, and how much of it that is.

Never by similarity and never the first so many: what is not told was not asked for, or did not fit into the tokens that were allowed,
and it is said how many turns that were.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final, NamedTuple

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from timemachine.core.pure.errors import Conflict, Unavailable
from timemachine.core.pure.postgres_text import storable
from timemachine.knowledge.embedding.wordllama import count_tokens
from timemachine.memory.search.models import SearchedAction
from timemachine.memory.transcripts.pure.selection import Weighed, fitting, gaps
from timemachine.memory.transcripts.turn_rows import Counted, Row, counted, rows
from timemachine.recording.annotations.significance.effective import IMPORTANCE, KEPT, SIGNIFICANCE
from timemachine.recording.sessions.deletions import IS_DELETED
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.turn_text import (
    LONGEST_COUNTED,
    Turn,
    omission_mark,
    paragraph,
    text_of,
)
from timemachine.recording.sessions.read_snapshot import snapshot

MOST_COUNTED: Final = 2_000
"""So many turns whose tokens no worker counted yet are counted while somebody waits, up to `MOST_BYTES` of them; more are estimated."""
MOST_BYTES: Final = 512 * 1024
BYTES_A_TOKEN: Final = 4
"""By which tokens are estimated: about what English prose has."""
BYTES_BEFORE: Final = 16
"""About how many bytes say whose turn it is."""

_TOKENS: Final = Subquery(SearchedAction.objects.filter(action=OuterRef("pk")).values("tokens"))
_SIZE: Final = Coalesce("input__size", 0) + Coalesce("output__size", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which turns are to be told: those that have one of each that is named, at least the importance, and together no more tokens than `budget`.

    `staying`: those that compression of the steps up to that one leaves as they are.
    """

    significances: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    min_importance: float | None = None
    budget: int | None = None
    staying: int | None = None

    @property
    def condition(self) -> Q:
        """The condition on actions that have `weighed` and `now_significance`."""
        found = Q()
        for name, wanted in (
            ("now_significance", self.significances),
            ("role", self.roles),
            ("kind", self.kinds),
        ):
            found &= Q(**{f"{name}__in": wanted}) if wanted else Q()
        found &= Q(tags__overlap=[storable(tag) for tag in self.tags]) if self.tags else Q()
        if self.staying is not None:
            weighty = Q(now_significance__in=KEPT) | Q(weight__importance__isnull=False)
            found &= weighty | Q(sequence__gt=self.staying)
        return found & (Q() if self.min_importance is None else Q(weighed__gte=self.min_importance))


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """So many turns and so many tokens."""

    turns: int
    tokens: int


class Told(NamedTuple):
    """A turn that is told, and how many turns are left out before it."""

    row: Row
    left_out: int

    @property
    def turn(self) -> Turn:
        """What is said of it."""
        return self.row.turn

    @property
    def document(self) -> dict[str, Any]:
        """The same as the API gives it."""
        return self.row.document | {"left_out_before": self.left_out}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What is told of a session up to its step `through`, and how much that is of what it recorded.

    `marks`: the tokens of what stands in the place of turns in its text, left out or deleted; they are in no other figure, and count
    towards the budget. `estimated`: some tokens were not counted by the tokenizer, but estimated from the bytes.
    """

    session: Session
    asked: Asked
    through: int
    kept: Amount
    recorded: Amount
    marks: int
    estimated: bool
    sequences: Sequence[int] | None = field(repr=False)
    """Those that are told; None for every one."""

    @property
    def left_out_after(self) -> int:
        """How many turns are left out behind the last that is told."""
        return 0 if self.sequences is None else list(gaps(self.sequences, self.through))[-1]

    def turns(self, after: int = 0) -> Iterator[Told]:
        """The turns in their order, those behind the step `after`, read as they are told.

        Raises `Conflict` (`erased_meanwhile`) behind the last one that is there, where the session was deleted before all were read.
        """
        chosen, missing, until = None, {}, self.through
        if self.sequences is not None:
            missing = dict(zip(self.sequences, gaps(self.sequences, self.through), strict=False))
            chosen = self.sequences[bisect_right(self.sequences, after) :]
            until = chosen[-1] if chosen else after
        last = after
        for row in rows(self.session.id, after, self.through, chosen):
            last = row.turn.sequence
            yield Told(row, missing.get(last, 0))
        if last < until:
            raise _erased(self.session)


@dataclass(frozen=True, slots=True)
class _Missing:
    """The tokens of turns that no worker counted, by sequence, and whether some of them are estimated."""

    tokens: Mapping[int, int]
    estimated: bool


_NOTHING_MISSING: Final = _Missing({}, estimated=False)


def transcript_of(session: Session, asked: Asked) -> Transcript:
    """What of the session is told to whoever asks so; of one that still records, what stood when it was asked.

    Where only some turns are asked for, those that were deleted are left out.
    """
    through = session.last_sequence
    if asked == Asked():
        known = counted(session.id, through)
        if known.known == known.turns:
            return _transcript(session, asked, known, _NOTHING_MISSING, None)
    actions = Action.objects.filter(session=session, sequence__lte=through).annotate(
        weighed=IMPORTANCE, now_significance=SIGNIFICANCE
    )
    with snapshot():  # a worker counts meanwhile
        known = counted(session.id, through)
        missing = _missing(session, actions) if known.known < known.turns else _NOTHING_MISSING
        chosen = None if asked == Asked() else _chosen(actions, asked, through, missing.tokens)
    return _transcript(session, asked, known, missing, chosen)


def _transcript(
    session: Session, asked: Asked, known: Counted, missing: _Missing, chosen: Sequence[Weighed] | None
) -> Transcript:
    through = session.last_sequence
    recorded = Amount(turns=known.turns, tokens=known.tokens + sum(missing.tokens.values()))
    sequences = None if chosen is None else [turn.sequence for turn in chosen]
    return Transcript(
        session=session,
        asked=asked,
        through=through,
        kept=recorded if chosen is None else _amount(chosen),
        recorded=recorded,
        marks=_notices(session, known.deleted) if sequences is None else _marks(sequences, through),
        estimated=missing.estimated,
        sequences=sequences,
    )


def _marks(told: Sequence[int], through: int) -> int:
    """The tokens of the marks of what is left out."""
    sizes = Counter(filter(None, gaps(told, through)))
    return sum(often * _tokens(paragraph(omission_mark(size))) for size, often in sizes.items())


def _notices(session: Session, deleted: Sequence[int]) -> int:
    """The tokens of what stands where turns were deleted."""
    told = rows(session.id, 0, session.last_sequence, deleted)
    return sum(_tokens(paragraph(text_of(row.turn))) for row in told)


def _amount(turns: Sequence[Weighed]) -> Amount:
    return Amount(turns=len(turns), tokens=sum(turn.tokens for turn in turns))


def _chosen(
    actions: QuerySet[Action], asked: Asked, through: int, missing: Mapping[int, int]
) -> list[Weighed]:
    rows = actions.filter(asked.condition & ~IS_DELETED).order_by("sequence").annotate(tokens=_TOKENS)
    found = [
        Weighed(
            sequence=sequence,
            importance=importance,
            tokens=missing[sequence] if tokens is None else tokens,
        )
        for sequence, importance, tokens in rows.values_list("sequence", "weighed", "tokens")
    ]
    if asked.budget is None:
        return found
    return fitting(found, asked.budget, last=through, mark_tokens=_tokens(paragraph(omission_mark(through))))


def _missing(session: Session, actions: QuerySet[Action]) -> _Missing:
    """Short ones are counted now, as many as nobody waits long for; the others are estimated."""
    there = actions.filter(~IS_DELETED).annotate(tokens=_TOKENS, bytes=_SIZE)
    uncounted = there.filter(tokens=None).order_by("sequence")
    sizes = dict(uncounted.values_list("sequence", "bytes"))
    short = [sequence for sequence, size in sizes.items() if size <= LONGEST_COUNTED]
    fitting_now = [
        sequence
        for sequence, total in zip(short, accumulate(sizes[each] for each in short), strict=True)
        if total <= MOST_BYTES
    ][:MOST_COUNTED]
    estimated = {sequence: estimate(size) for sequence, size in sizes.items()}
    try:
        now = {
            row.turn.sequence: count_tokens(paragraph(text_of(row.turn)))
            for row in rows(session.id, 0, session.last_sequence, fitting_now)
        }
    except Unavailable:
        now = {}
    return _Missing(estimated | now, estimated=len(now) < len(sizes))


def estimate(size: int) -> int:
    """About how many tokens so many bytes are, with what stands before them."""
    return -(-(size + BYTES_BEFORE) // BYTES_A_TOKEN)


def _tokens(text: str) -> int:
    try:
        return count_tokens(text)
    except Unavailable:
        return estimate(len(text))


def _erased(session: Session) -> Conflict:
    return Conflict(
        f"The session {session.key} was deleted while it was told; what was told is not whole.",
        code="erased_meanwhile",
    )
