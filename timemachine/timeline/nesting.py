"""How steps nest: a step stands under its parent where it directly follows it, and what an answer was made from is folded. Pure.

The order is always that of the sequence. A step is under another when that one is its recorded parent, everything between
them is under it too, and the outermost is at most `REACH` steps away; any other step stands at the margin, and its parent is
only named in its details.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

REACH: Final = 64
FOLDING: Final = frozenset({"ask", "find", "put"})


class Nestable(Protocol):
    """What nesting needs to know of a recorded action."""

    @property
    def sequence(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def client_id(self) -> str | None: ...
    @property
    def parent_id_given(self) -> str | None: ...
    @property
    def parent_sequence(self) -> int | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Place[N: Nestable]:
    """Where a step stands: under which steps (the outermost first), how many are inside it, and whether a fold hides it."""

    step: N
    above: tuple[int, ...]
    inside: int
    folds: bool
    unfolded: bool
    hidden: bool

    @property
    def depth(self) -> int:
        """0 at the margin."""
        return len(self.above)


def nest[N: Nestable](
    steps: Sequence[N], unfolded: Collection[int] = (), selected: int | None = None
) -> list[Place[N]]:
    """The place of each step. Steps come in their order; `unfolded` ones show what is inside, and `selected` is never hidden."""
    chains = _chains(steps)
    inside = Counter(sequence for chain in chains for sequence in chain)
    needed = next((chain for step, chain in zip(steps, chains, strict=True) if step.sequence == selected), ())
    open_ = {*unfolded, *needed}
    closed = {step.sequence for step in steps if step.kind in FOLDING} - open_
    return [
        Place(
            step=step,
            above=chain,
            inside=inside[step.sequence],
            folds=step.kind in FOLDING and inside[step.sequence] > 0,
            unfolded=step.sequence in open_,
            hidden=not closed.isdisjoint(chain),
        )
        for step, chain in zip(steps, chains, strict=True)
    ]


def flat[N: Nestable](steps: Sequence[N]) -> list[Place[N]]:
    """Every step at the margin, for a list that leaves steps out."""
    return [Place(step=step, above=(), inside=0, folds=False, unfolded=False, hidden=False) for step in steps]


def _chains[N: Nestable](steps: Sequence[N]) -> list[tuple[int, ...]]:
    """For each step the sequences of those above it."""
    chains: list[tuple[int, ...]] = []
    standing: list[N] = []
    for step in steps:
        standing = [*_above(standing, step), step]
        chains.append(tuple(each.sequence for each in standing[:-1]))
    return chains


def _above[N: Nestable](standing: list[N], step: N) -> list[N]:
    if not standing or step.sequence - standing[0].sequence > REACH:
        return []
    for depth in range(len(standing), 0, -1):
        if _is_parent(standing[depth - 1], step):
            return standing[:depth]
    return []


def _is_parent(candidate: Nestable, step: Nestable) -> bool:
    if step.parent_id_given is not None:
        return candidate.client_id == step.parent_id_given
    return step.parent_sequence is not None and candidate.sequence == step.parent_sequence
