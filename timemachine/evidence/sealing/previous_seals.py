"""The seals that a replay or comparison had before its newest one: what they said, and why another took their place."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from timemachine.core.pure.clock import written
from timemachine.evidence.models import EarlierSeal, Seal, SealCheckpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """That a seal was replaced after an erasure: when, by whom and why, and how many fields went; None where that is not known."""

    at: datetime
    by: str | None = None
    reason: str | None = None
    fields: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A signed state of an earlier seal: how many records under which root (hex), when, its entry in the log, and the share link that it was cut for."""

    size: int
    root: str
    at: str
    log_index: int
    cut_for: str | None

    @property
    def sealed_at(self) -> datetime:
        """When it was signed."""
        return datetime.fromisoformat(self.at)

    def as_json(self) -> dict[str, Any]:
        """The state as it is kept."""
        return {
            "size": self.size,
            "root": self.root,
            "at": self.at,
            "log_index": self.log_index,
            "cut_for": self.cut_for,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """An earlier seal with its signed states, at least one, in the order of signing. `replaced` is the erasure after which there is another; None where it ran again.

    `tombstone` is the entry of the log that says so.
    """

    generation: int
    states: Sequence[State]
    replaced: Replaced | None = None
    tombstone: int | None = None

    @property
    def newest(self) -> State:
        """The last state of the most records."""
        return max(reversed(self.states), key=lambda each: each.size)

    def stated(self) -> dict[str, Any]:
        """What anybody may know of it: by whom and why is the project's business."""
        return {
            "generation": self.generation,
            "size": self.newest.size,
            "root": self.newest.root,
            "sealed_at": self.newest.at,
            "because": "run_again" if self.replaced is None else "erasure",
            "replaced_at": written(self.replaced.at) if self.replaced else None,
            "log_entry": self.tombstone,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A share link, by its public id: its visitors learn of the states that there were when it was made, of the first in any case, and of those cut for it."""

    link: str
    made_at: datetime

    def of(self, earlier: Earlier) -> Earlier | None:
        """The earlier seal as these visitors may know it; None where they may not."""
        whole = [each for each in earlier.states if each.cut_for is None]
        then = written(self.made_at) or ""
        known = [
            each
            for each in earlier.states
            if each.cut_for == self.link or each in whole[:1] or (each in whole and each.at <= then)
        ]
        return replace(earlier, states=known) if known else None


def keep(sealed: Sequence[Seal], left: Collection[UUID], first: int, why: Replaced) -> None:
    """Keep what is known of the seals of comparisons that are `left`, before they go; entry `first` of the log is the tombstone of the first of `sealed`."""
    for tombstone, seal in enumerate(sealed, first):
        states = _states(seal) if seal.comparison_id in left else []
        if states and seal.comparison_id is not None:
            EarlierSeal.objects.create(
                project_id=seal.project_id,
                comparison_id=seal.comparison_id,
                generation=seal.generation,
                states=[each.as_json() for each in states],
                log_index=tombstone,
                replaced_at=why.at,
                replaced_by=why.by,
                reason=why.reason,
                fields=why.fields,
            )


def earlier_of(seal: Seal, reader: Reader | None = None) -> list[Earlier]:
    """The seals before this one, the first of them first, as the readers of a link may know them; a session has one seal for good.

    Two queries, none for a first seal, and one more for each earlier run that is still sealed.
    """
    if seal.generation == 1:
        return []
    found = sorted([*_replaced(seal), *_of_earlier_runs(seal)], key=lambda each: each.generation)
    return found if reader is None else [known for each in found if (known := reader.of(each))]


def _replaced(seal: Seal) -> Iterator[Earlier]:
    if seal.comparison_id is None:
        return
    rows = EarlierSeal.objects.filter(comparison=seal.comparison_id, generation__lt=seal.generation)
    for row in rows:
        why = Replaced(at=row.replaced_at, by=row.replaced_by, reason=row.reason, fields=row.fields)
        states = [State(**each) for each in row.states]
        yield Earlier(generation=row.generation, states=states, replaced=why, tombstone=row.log_index)


def _of_earlier_runs(seal: Seal) -> Iterator[Earlier]:
    """Those that stand beside it: the replay, or the comparison, ran once more."""
    same = {"replay": seal.replay_id} if seal.replay_id else {"comparison": seal.comparison_id}
    for each in Seal.objects.filter(generation__lt=seal.generation, **same):
        if states := _states(each):
            yield Earlier(generation=each.generation, states=states)


def _states(seal: Seal) -> list[State]:
    return [
        State(
            size=each.size,
            root=each.root_hex,
            at=written(each.at) or "",
            log_index=each.log_index,
            cut_for=each.cut_for,
        )
        for each in SealCheckpoint.objects.filter(seal=seal).order_by("id")
    ]
