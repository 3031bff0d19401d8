"""The transcript of a session: all its turns in order, or the important ones, and what share of the session that
is.

Turns are never selected by similarity or just from the start. A turn is left out only if the filter excludes it
or it does not fit into the token budget, and the number of such turns is given.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

from django.db.models import IntegerField, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from timemachine.core.database import snapshot
from timemachine.core.pure.errors import Conflict, Unavailable
from timemachine.core.pure.postgres_text import storable
from timemachine.core.pure.schemas import Schema
from timemachine.knowledge.embedding.wordllama import count_tokens
from timemachine.memory.transcripts.pure.selection import Candidate, fitting, gaps
from timemachine.memory.transcripts.turn_rows import Row, TurnCounts, rows, turn_counts
from timemachine.recording.annotations.significance.queries import (
    IMPORTANCE,
    SIGNIFICANCE,
    UNCOMPRESSED,
    compression_of,
)
from timemachine.recording.sessions.deletions import IS_DELETED
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.turn_text import (
    LONGEST_COUNTED,
    Turn,
    omission_mark,
    paragraph,
    text_of,
)
from timemachine.recording.sessions.queries import HAPPENED_HERE

MOST_COUNTED: Final = 2_000
"""How many turns are tokenized on request if no worker has done so, up to `MOST_BYTES` of text; others are
estimated.
"""
MOST_BYTES: Final = 512 * 1024
BYTES_A_TOKEN: Final = 4
"""Bytes per token for estimates, about what English prose has."""
BYTES_BEFORE: Final = 16
"""About how many bytes name the speaker of a turn."""

_TOKENS: Final = RawSQL(
    "(SELECT w.tokens FROM tm_searched_action w WHERE w.action_id = tm_action.id)", (), IntegerField()
)
_SIZE: Final = Coalesce("input__size", 0) + Coalesce("output__size", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFilter:
    """A filter for turns: one value of each given field, at least this importance, and at most `budget` tokens in
    total.

    `staying`: only turns that keep their importance when the steps up to this one are compressed. `own`: no copied turns.
    """

    significance: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    min_importance: float | None = None
    budget: int | None = None
    staying: int | None = None
    own: bool = False

    @property
    def condition(self) -> Q:
        """Return the condition on actions that have `weighed` and `now_significance`."""
        found = HAPPENED_HERE if self.own else Q()
        found &= Q(now_significance__in=self.significance) if self.significance else Q()
        found &= Q(role__in=self.role) if self.role else Q()
        found &= Q(kind__in=self.kind) if self.kind else Q()
        found &= Q(tags__overlap=[storable(tag) for tag in self.tag]) if self.tag else Q()
        if self.staying is not None:
            weighty = Q(now_significance__in=UNCOMPRESSED) | Q(weight__importance__isnull=False)
            found &= weighty | Q(sequence__gt=self.staying)
        return found & (Q() if self.min_importance is None else Q(weighed__gte=self.min_importance))


class AmountOut(Schema):
    """Turns and their tokens."""

    turns: int
    tokens: int


class SelectedTurn(NamedTuple):
    """A turn of a transcript, and how many turns are left out before it."""

    row: Row
    left_out: int

    @property
    def turn(self) -> Turn:
        """Return the content of the turn."""
        return self.row.turn

    @property
    def document(self) -> dict[str, object]:
        """Return the turn as the API's JSON object."""
        return self.row.document | {"left_out_before": self.left_out}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The selected turns of a session up to its step `through`, and what share of the recorded session they are.

    `marks`: the tokens of the marks for left out and deleted turns; they are in no other number and count
    towards the budget. `estimated`: some tokens are estimated from bytes.
    """

    session: Session
    asked: TurnFilter
    through: int
    kept: AmountOut
    recorded: AmountOut
    marks: int
    estimated: bool
    sequences: Sequence[int] | None = field(repr=False)
    """The selected steps; None for all."""

    @property
    def left_out_after(self) -> int:
        """Return how many turns are left out after the last selected one."""
        return 0 if self.sequences is None else list(gaps(self.sequences, self.through))[-1]

    def turns(self, after: int = 0) -> Iterator[SelectedTurn]:
        """Yield the turns after the step `after`, in order, reading them as needed.

        Raises `Conflict` (`erased_meanwhile`) after the last existing turn if the session was deleted in the
        meantime.
        """
        chosen, missing, until = None, {}, self.through
        if self.sequences is not None:
            missing = dict(zip(self.sequences, gaps(self.sequences, self.through), strict=False))
            chosen = self.sequences[bisect_right(self.sequences, after) :]
            until = chosen[-1] if chosen else after
        last = after
        for row in rows(self.session.id, after, self.through, chosen):
            last = row.turn.sequence
            yield SelectedTurn(row, missing.get(last, 0))
        if last < until:
            raise _erased(self.session)


@dataclass(frozen=True, slots=True)
class _Missing:
    """Tokens by sequence for turns without a stored count, and whether some are estimated."""

    tokens: Mapping[int, int]
    estimated: bool


_NOTHING_MISSING: Final = _Missing({}, estimated=False)


def transcript_of(session: Session, turn_filter: TurnFilter) -> Transcript:
    """Return the transcript of the session, of a running session as it is now.

    With a filter, deleted turns are left out.
    """
    through = session.last_sequence
    if turn_filter == TurnFilter():
        known = turn_counts(session.id, through)
        if known.known == known.turns:
            return _transcript(session, turn_filter, known, _NOTHING_MISSING, None)
    actions = Action.objects.filter(session=session, sequence__lte=through).annotate(
        weighed=IMPORTANCE, now_significance=SIGNIFICANCE
    )
    with snapshot():  # a worker may store counts in the meantime
        known = turn_counts(session.id, through)
        missing = _missing(session, actions) if known.known < known.turns else _NOTHING_MISSING
        chosen = (
            None if turn_filter == TurnFilter() else _chosen(actions, turn_filter, through, missing.tokens)
        )
    return _transcript(session, turn_filter, known, missing, chosen)


def _transcript(
    session: Session,
    turn_filter: TurnFilter,
    known: TurnCounts,
    missing: _Missing,
    chosen: Sequence[Candidate] | None,
) -> Transcript:
    through = session.last_sequence
    recorded = AmountOut.model_construct(
        turns=known.turns, tokens=known.tokens + sum(missing.tokens.values())
    )
    sequences = None if chosen is None else [turn.sequence for turn in chosen]
    return Transcript(
        session=session,
        asked=turn_filter,
        through=through,
        kept=recorded if chosen is None else _amount(chosen),
        recorded=recorded,
        marks=_notices(session, known.deleted) if sequences is None else _marks(sequences, through),
        estimated=missing.estimated,
        sequences=sequences,
    )


def _marks(sequences: Sequence[int], through: int) -> int:
    """Return the tokens of the marks for gaps."""
    sizes = Counter(filter(None, gaps(sequences, through)))
    return sum(often * _tokens(paragraph(omission_mark(size))) for size, often in sizes.items())


def _notices(session: Session, deleted: Sequence[int]) -> int:
    """Return the tokens of the notices for deleted turns."""
    notices = rows(session.id, 0, session.last_sequence, deleted)
    return sum(_tokens(paragraph(text_of(row.turn))) for row in notices)


def _amount(turns: Sequence[Candidate]) -> AmountOut:
    return AmountOut.model_construct(turns=len(turns), tokens=sum(turn.tokens for turn in turns))


def _chosen(
    actions: QuerySet[Action], turn_filter: TurnFilter, through: int, missing: Mapping[int, int]
) -> list[Candidate]:
    rows = actions.filter(turn_filter.condition & ~IS_DELETED).order_by("sequence").annotate(tokens=_TOKENS)
    found = [
        Candidate(
            sequence=sequence,
            importance=importance,
            tokens=missing[sequence] if tokens is None else tokens,
        )
        for sequence, importance, tokens in rows.values_list("sequence", "weighed", "tokens")
    ]
    if turn_filter.budget is None:
        return found
    return fitting(
        found, turn_filter.budget, last=through, mark_tokens=_tokens(paragraph(omission_mark(through)))
    )


def _missing(session: Session, actions: QuerySet[Action]) -> _Missing:
    """Count the tokens of short turns, up to the limits above, and estimate the others."""
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
    """Return about how many tokens this many bytes are, including the name of the speaker."""
    return -(-(size + BYTES_BEFORE) // BYTES_A_TOKEN)


def _tokens(text: str) -> int:
    try:
        return count_tokens(text)
    except Unavailable:
        return estimate(len(text))


def _erased(session: Session) -> Conflict:
    return Conflict(
        f"The session {session.key} was deleted while it was being sent. This transcript is incomplete.",
        code="erased_meanwhile",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The effect of compression: turns that keep their importance, turns that fall to 0.30, and whether some
    tokens are estimated.
    """

    kept: AmountOut
    falls: AmountOut
    estimated: bool


def compression_effect(session: Session) -> Effect:
    """Return the effect of compressing the session now, or of its compression. Turns recorded after the
    compression keep their importance.
    """
    now = compression_of(session)
    found = transcript_of(session, TurnFilter(staying=session.last_sequence if now is None else now.through))
    falls = AmountOut.model_construct(
        turns=found.recorded.turns - found.kept.turns, tokens=found.recorded.tokens - found.kept.tokens
    )
    return Effect(kept=found.kept, falls=falls, estimated=found.estimated)
