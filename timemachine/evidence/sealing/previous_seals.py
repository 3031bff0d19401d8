"""The seals that a replay or comparison had before its newest one: their states, and why they were replaced."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from timemachine.core.pure.clock import written
from timemachine.core.pure.schemas import Schema
from timemachine.evidence.models import EarlierSeal, Seal, SealCheckpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """The replacement of a seal after an erasure, and of how many `fields` (None if unknown)."""

    at: datetime
    by: str | None = None
    reason: str | None = None
    fields: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealState:
    """A signed state of a previous seal: size, root (hex), time, log entry, and the link it was cut for."""

    size: int
    root: str
    at: str
    log_index: int
    cut_for: str | None

    @property
    def sealed_at(self) -> datetime:
        return datetime.fromisoformat(self.at)


class PublicSeal(Schema):
    """What anyone may know about a previous seal: its state with the most records, and why it was replaced."""

    generation: int
    size: int
    root: str
    sealed_at: str
    because: Literal["run_again", "erasure"]
    replaced_at: str | None
    log_entry: int | None  # the entry of the project's log about the replacement


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousSeal:
    """A previous seal with its signed states (at least one) in signing order.

    `replaced` is the erasure that ended it (None: it ran again), `tombstone` the log entry of that.
    """

    generation: int
    states: Sequence[SealState]
    replaced: Replacement | None = None
    tombstone: int | None = None

    @property
    def newest(self) -> SealState:
        """Return the last state with the most records."""
        return max(reversed(self.states), key=lambda each: each.size)

    def public(self) -> PublicSeal:
        """Return what anyone may know about it; by whom and why is only for the project."""
        return PublicSeal.from_attributes(
            self.newest,
            generation=self.generation,
            sealed_at=self.newest.at,
            because="run_again" if self.replaced is None else "erasure",
            replaced_at=self.replaced.at if self.replaced else None,
            log_entry=self.tombstone,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The visitors of a share link, by its public id.

    They may know the first state, the states that existed when the link was created, and those cut for it.
    """

    link: str
    made_at: datetime

    def of(self, earlier: PreviousSeal) -> PreviousSeal | None:
        """Return the previous seal as these visitors may know it, or None."""
        uncut = [each for each in earlier.states if each.cut_for is None]
        then = written(self.made_at) or ""
        known = [
            each
            for each in earlier.states
            if each.cut_for == self.link or each in uncut[:1] or (each in uncut and each.at <= then)
        ]
        return replace(earlier, states=known) if known else None


def store_replaced(sealed: Sequence[Seal], remaining: Collection[UUID], first: int, why: Replacement) -> None:
    """Store the states of the seals of `remaining` comparisons before they are deleted. Log entry `first` is
    the tombstone of the first of `sealed`.
    """
    for tombstone, seal in enumerate(sealed, first):
        states = _states(seal) if seal.comparison_id in remaining else []
        if states and seal.comparison_id is not None:
            EarlierSeal.objects.create(
                project_id=seal.project_id,
                comparison_id=seal.comparison_id,
                generation=seal.generation,
                states=[asdict(each) for each in states],
                log_index=tombstone,
                replaced_at=why.at,
                replaced_by=why.by,
                reason=why.reason,
                fields=why.fields,
            )


def previous_seals_of(seal: Seal, reader: Reader | None = None) -> list[PreviousSeal]:
    """Return the seals before this one, oldest first, as far as `reader` may know them.

    Two queries, none for a first seal, and one more for each earlier run that is still sealed.
    """
    if seal.generation == 1:
        return []
    found = sorted([*_replaced(seal), *_of_earlier_runs(seal)], key=lambda each: each.generation)
    return found if reader is None else [known for each in found if (known := reader.of(each))]


def _replaced(seal: Seal) -> Iterator[PreviousSeal]:
    if seal.comparison_id is None:
        return
    rows = EarlierSeal.objects.filter(comparison=seal.comparison_id, generation__lt=seal.generation)
    for row in rows:
        why = Replacement(at=row.replaced_at, by=row.replaced_by, reason=row.reason, fields=row.fields)
        states = [SealState(**each) for each in row.states]
        yield PreviousSeal(generation=row.generation, states=states, replaced=why, tombstone=row.log_index)


def _of_earlier_runs(seal: Seal) -> Iterator[PreviousSeal]:
    """Yield the seals of earlier runs that still exist: the replay or the comparison ran again."""
    same = {"replay": seal.replay_id} if seal.replay_id else {"comparison": seal.comparison_id}
    for each in Seal.objects.filter(generation__lt=seal.generation, **same):
        if states := _states(each):
            yield PreviousSeal(generation=each.generation, states=states)


def _states(seal: Seal) -> list[SealState]:
    return [
        SealState(
            size=each.size,
            root=each.root_hex,
            at=written(each.at) or "",
            log_index=each.log_index,
            cut_for=each.cut_for,
        )
        for each in SealCheckpoint.objects.filter(seal=seal).order_by("id")
    ]
