"""Nest steps: a step is indented under its parent if it directly follows it, and the steps that led to an answer are
collapsed.

The order is always that of the sequence. A step is under its recorded parent if everything between them is under it
too. If something else came in between (two calls, then their two results), it is placed next to its parent, under
what both are in. The outermost step is at most `REACH` steps away; any other step is at the margin, and its parent
appears only in its details. Steps that are recorded at their end, such as a block of the recorder, follow what they
contain: steps directly before their parent are indented, too.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

REACH: Final = 64
FOLDING: Final = frozenset({"ask", "find", "put"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the timeline. `significance` is the effective one, or the recorded one for readers who see only the record.

    A `copied` step happened in another session; `failed` is then false.
    """

    sequence: int
    kind: str
    label: str = ""
    name: str | None = None
    tool: str | None = None
    duration_ms: float | None = None
    significance: str | None = None
    client_id: str | None = None
    parent_id_given: str | None = None
    parent_sequence: int | None = None
    failed: bool = False
    copied: bool = False
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place of a step: the steps it is under (the outermost first), how many are inside it, and whether it is
    hidden.

    `below` are later steps that contain it, because they were recorded after it (the outermost first); `inside` does
    not count these.
    """

    step: Row
    above: tuple[int, ...] = ()
    inside: int = 0
    folds: bool = False
    unfolded: bool = False
    hidden: bool = False
    below: tuple[int, ...] = ()

    @property
    def depth(self) -> int:
        """0 at the margin."""
        return len(self.above) + len(self.below)


def nest(steps: Sequence[Row], unfolded: Collection[int] = (), selected: int | None = None) -> list[Place]:
    """Return the place of each step, in order. `unfolded` steps show their contents, and `selected` is never hidden."""
    chains = _chains(steps)
    later = _later(steps, chains)
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
            below=below,
        )
        for step, chain, below in zip(steps, chains, later, strict=True)
    ]


def flat(steps: Sequence[Row]) -> list[Place]:
    """Return every step at the margin, for a list that leaves out steps."""
    return [Place(step=step) for step in steps]


def _chains(steps: Sequence[Row]) -> list[tuple[int, ...]]:
    """Return the sequences above each step."""
    chains: list[tuple[int, ...]] = []
    group = _Group()
    for step in steps:
        chain = group.above(step)
        if not chain:
            group = _Group()
        group.add(step, chain)
        chains.append(chain)
    return chains


def _later(steps: Sequence[Row], chains: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return, for each step, the later steps that contain it: everything between the two is inside as well."""
    found: list[tuple[int, ...]] = [() for _ in steps]
    # outermost steps with their contents: where each begins, and its outermost step
    blocks: list[tuple[int, int]] = []
    for place, (step, chain) in enumerate(zip(steps, chains, strict=True)):
        if chain:
            continue
        end = begin = place
        while step.kind not in FOLDING and blocks and _is_in(steps[blocks[-1][1]], step):
            if step.sequence - steps[blocks[-1][0]].sequence > REACH:
                break
            begin, _ = blocks.pop()
        for inner in range(begin, end):
            found[inner] = (step.sequence, *found[inner])
        blocks.append((begin, place))
    return found


def _is_in(inner: Row, outer: Row) -> bool:
    if inner.parent_id_given is not None:
        return inner.parent_id_given == outer.client_id
    return inner.parent_sequence == outer.sequence


class _Group:
    """An outermost step and the steps since then, which are all inside it."""

    def __init__(self) -> None:
        self._inside: dict[str | int, tuple[int, ...]] = {}
        self._first = 0
        self._current: tuple[int, ...] = ()

    def above(self, step: Row) -> tuple[int, ...]:
        """Return the steps above the next one: its parent if nothing came in between, and those above that."""
        given = step.parent_id_given if step.parent_id_given is not None else step.parent_sequence
        line = self._inside.get(given) if given is not None else None
        if line is None or step.sequence - self._first > REACH:
            return ()
        return tuple(one for one, other in zip(line, self._current, strict=False) if one == other)

    def add(self, step: Row, chain: tuple[int, ...]) -> None:
        """Make this the latest step."""
        self._first = self._first or step.sequence
        self._current = (*chain, step.sequence)
        self._inside[step.sequence] = self._current
        if step.client_id is not None:
            self._inside[step.client_id] = self._current
