"""A session told again: every turn in its order, or those that matter, and how much of it that is.

Never by similarity and never the first so many: what is not told was not asked for, or did not fit into the tokens that were allowed,
and it is said how many turns that were.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from django.db.models import OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from timemachine.base.errors import Unavailable
from timemachine.base.faithful import storable
from timemachine.memory.reading import Row, counted, rows
from timemachine.memory.selection import Weighed, fitting, gaps
from timemachine.recording.models import Action, Session
from timemachine.recording.queries import WEIGHED
from timemachine.recording.told import Turn, left_out, text_of
from timemachine.retrieval.embedding.wordllama import count_tokens
from timemachine.search.models import SearchedAction

MOST_COUNTED: Final = 2_000
"""So many turns whose tokens no worker counted yet are counted while somebody waits, up to `MOST_BYTES` of them; more are estimated."""
MOST_BYTES: Final = 4 * 1024 * 1024
BYTES_A_TOKEN: Final = 4
"""By which tokens are estimated: about what English prose has."""

_TOKENS: Final = Subquery(SearchedAction.objects.filter(action=OuterRef("pk")).values("tokens"))
_SIZE: Final = Coalesce("input__size", 0) + Coalesce("output__size", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which turns are to be told: those that have one of each that is named, at least the importance, and together no more tokens than `budget`."""

    significances: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    min_importance: float | None = None
    budget: int | None = None

    @property
    def condition(self) -> Q:
        """The condition on actions that have `weighed`."""
        found = Q()
        for name, wanted in (
            ("significance", self.significances),
            ("role", self.roles),
            ("kind", self.kinds),
        ):
            found &= Q(**{f"{name}__in": wanted}) if wanted else Q()
        found &= Q(tags__overlap=[storable(tag) for tag in self.tags]) if self.tags else Q()
        return found & (Q() if self.min_importance is None else Q(weighed__gte=self.min_importance))


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """So many turns and so many tokens."""

    turns: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A turn that is told: what is said of it, as a document and as words, and how many turns are left out before it."""

    turn: Turn
    document: dict[str, Any]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What is told of a session up to its step `through`, and how much that is of what it recorded.

    `estimated`: some tokens were not counted by the tokenizer, but estimated from the bytes.
    """

    session: Session
    asked: Asked
    through: int
    kept: Amount
    recorded: Amount
    estimated: bool
    sequences: Sequence[int] | None = field(repr=False)
    """Those that are told; None for every one."""

    @property
    def left_out_after(self) -> int:
        """How many turns are left out behind the last that is told."""
        return 0 if self.sequences is None else list(gaps(self.sequences, self.through))[-1]

    def turns(self, after: int = 0) -> Iterator[Told]:
        """The turns in their order, those behind the step `after`, read as they are told."""
        if self.sequences is None:
            yield from (_told(row, 0) for row in rows(self.session.id, after, self.through))
            return
        begin = bisect_right(self.sequences, after)
        missing = islice(gaps(self.sequences, self.through), begin, None)
        for row in rows(self.session.id, after, self.through, self.sequences[begin:]):
            yield _told(row, next(missing))


def transcript_of(session: Session, asked: Asked) -> Transcript:
    """What of the session is told to whoever asks so; of one that still records, what stood when it was asked."""
    through = session.last_sequence
    actions = Action.objects.filter(session=session, sequence__lte=through).annotate(weighed=WEIGHED)
    turns, known, tokens = counted(session.id, through)
    missing = _missing(session, actions) if known < turns else _Missing({}, estimated=False)
    recorded = Amount(turns=turns, tokens=tokens + sum(missing.tokens.values()))
    if asked == Asked():
        return _transcript(session, asked, through, (recorded, recorded), missing, None)
    chosen = _chosen(actions, asked, through, missing.tokens)
    kept = Amount(turns=len(chosen), tokens=sum(turn.tokens for turn in chosen))
    sequences = [turn.sequence for turn in chosen]
    return _transcript(session, asked, through, (kept, recorded), missing, sequences)


@dataclass(frozen=True, slots=True)
class _Missing:
    """The tokens of turns that no worker counted, by sequence, and whether they are estimated."""

    tokens: Mapping[int, int]
    estimated: bool


def _transcript(
    session: Session,
    asked: Asked,
    through: int,
    amounts: tuple[Amount, Amount],
    missing: _Missing,
    sequences: Sequence[int] | None,
) -> Transcript:
    kept, recorded = amounts
    return Transcript(
        session=session,
        asked=asked,
        through=through,
        kept=kept,
        recorded=recorded,
        estimated=missing.estimated,
        sequences=sequences,
    )


def _chosen(
    actions: QuerySet[Action], asked: Asked, through: int, missing: Mapping[int, int]
) -> list[Weighed]:
    rows = actions.filter(asked.condition).order_by("sequence").annotate(tokens=_TOKENS)
    found = [
        Weighed(
            sequence=sequence,
            importance=importance,
            tokens=missing.get(sequence, 0) if tokens is None else tokens,
        )
        for sequence, importance, tokens in rows.values_list("sequence", "weighed", "tokens")
    ]
    if asked.budget is None:
        return found
    return fitting(found, asked.budget, last=through, mark_tokens=_tokens(left_out(through)))


def _missing(session: Session, actions: QuerySet[Action]) -> _Missing:
    """Counted now where it is little, else estimated."""
    uncounted = actions.annotate(tokens=_TOKENS).filter(tokens=None)
    sizes = dict(uncounted.annotate(bytes=_SIZE).values_list("sequence", "bytes")[: MOST_COUNTED + 1])
    if len(sizes) <= MOST_COUNTED and sum(sizes.values()) <= MOST_BYTES:
        try:
            found = rows(session.id, 0, max(sizes), sorted(sizes))
            return _Missing(
                {row.turn.sequence: count_tokens(text_of(row.turn)) for row in found}, estimated=False
            )
        except Unavailable:
            pass
    whole = uncounted.annotate(bytes=_SIZE + Value(BYTES_A_TOKEN)).values_list("sequence", "bytes")
    return _Missing({sequence: -(-size // BYTES_A_TOKEN) for sequence, size in whole}, estimated=True)


def _tokens(text: str) -> int:
    try:
        return count_tokens(text)
    except Unavailable:
        return -(-len(text) // BYTES_A_TOKEN)


def _told(row: Row, missing: int) -> Told:
    return Told(turn=row.turn, document=row.document, left_out=missing)
