"""Two runs aligned: their pairs of steps, the number of each status, and the totals of either run."""

from collections import Counter, OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final, Literal

from timemachine.core.accounts.models import Project
from timemachine.memory.search.indexing import count_rewrites
from timemachine.replay.alignment.runs import Run, RunStep, RunTotals, run_of, steps_before, totals
from timemachine.replay.alignment.steps import steps_of
from timemachine.text.pure.difference.sessions import STATUSES, StepPair, align_by_sequence, align_steps

Show = Literal["all", "changed", "same", "modified", "moved", "only_left", "only_right", "not_asked"]
SHOWS: Final[tuple[Show, ...]] = (
    "all",
    "changed",
    "modified",
    "moved",
    "only_left",
    "only_right",
    "not_asked",
    "same",
)
# The maximum number of cached steps, some 0.8 KB each. The largest possible alignment, 20,000 by 20,000, fits.
MOST_STEPS: Final = 48_000
# The minimum size of an alignment, so that the number of small ones is bounded.
_LEAST: Final = 250
_CHANGED: Final = frozenset(STATUSES) - {"same", "not_asked"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two runs: its steps by sequence, and its totals. The steps up to `after` are left out, as the other run is a
    continuation that goes on after them."""

    run: Run
    steps: Mapping[int, RunStep]
    totals: RunTotals
    after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """Two runs with the pairs of their steps in order. `only_replayed` means that only finds, asks and model calls were compared.

    `key` changes with the content of either run; what is computed from the pairs can be cached under it.
    """

    key: Hashable
    left: Side
    right: Side
    pairs: Sequence[StepPair]
    only_replayed: bool

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of pairs with each status; a step that moved counts once, although it is in two pairs."""
        found = Counter[str](pair.status for pair in self.pairs)
        found["moved"] //= 2
        return {status: found[status] for status in STATUSES}

    def shown(self, show: Show) -> list[int]:
        """Return the positions of the pairs that a filter shows; `changed` is every status but `same` and `not_asked`."""
        if show == "all":
            return list(range(len(self.pairs)))
        statuses = _CHANGED if show == "changed" else {show}
        return [place for place, pair in enumerate(self.pairs) if pair.status in statuses]


class SizedCache[Value]:
    """A cache of recent values, limited by the number of steps. The pages of one comparison share an alignment."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        """Return the value under the key, None if it is not cached."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def store(self, key: Hashable, value: Value, steps: int) -> None:
        """Store a value that was computed from this many steps, and drop the least recently used ones beyond the limit."""
        with self._lock:
            self._values[key] = value, max(steps, _LEAST)
            self._values.move_to_end(key)
            while sum(each for _, each in self._values.values()) > MOST_STEPS:
                self._values.popitem(last=False)


_CACHE: Final = SizedCache[Aligned]()


def aligned(project: Project, left: str, right: str) -> Aligned:
    """Return two runs of a project, named by UUID or key, aligned. At most sixteen queries. Raises `NotFound`, `TooLarge`.

    Two runs of one session (it and its replay, or two replays) are paired by sequence, any others by what the
    steps are. Against a replay, only a session's finds, asks and model calls are compared, because a replay repeats
    nothing else.
    """
    one, other = run_of(project, left), run_of(project, right)
    key = _key(one), _key(other), count_rewrites({one.session.id, other.session.id})
    found = _CACHE.get(key)
    if found is None:
        found = _aligned(one, other, key)
        _CACHE.store(key, found, len(found.left.steps) + len(found.right.steps))
    return replace(found, left=replace(found.left, run=one), right=replace(found.right, run=other))


def _key(run: Run) -> Hashable:
    """Return a key that changes with the steps of a run: a session only grows, a replay counts its changes. Erasures are tracked separately."""
    replay = run.replay
    return run.id, run.session.last_sequence, (replay.revision, replay.status) if replay else None


def _aligned(one: Run, other: Run, key: Hashable) -> Aligned:
    only_replayed = one.replay is not None or other.replay is not None
    left, right = (steps_of(run, only_replayed=only_replayed) for run in (one, other))
    if only_replayed:
        left, right = _without_copies(left, right), _without_copies(right, left)
    sides = [
        _side(run, steps, steps_before(run, another), only_replayed=only_replayed)
        for run, another, steps in ((one, other, left), (other, one, right))
    ]
    align = align_by_sequence if only_replayed and one.session.id == other.session.id else align_steps
    pairs = align(*([step.facts for step in side.steps.values()] for side in sides))
    for step in (*left, *right):
        step.facts.drop_words()
    return Aligned(
        key=key,
        left=sides[0],
        right=sides[1],
        pairs=[_refined(pair, *sides) for pair in pairs],
        only_replayed=only_replayed,
    )


def _side(run: Run, steps: Sequence[RunStep], after: int, *, only_replayed: bool) -> Side:
    return Side(
        run=run,
        steps={step.sequence: step for step in steps if step.sequence > after},
        totals=totals(run, steps, only_replayed=only_replayed, after=after),
        after=after,
    )


def _without_copies(steps: Sequence[RunStep], others: Sequence[RunStep]) -> list[RunStep]:
    """Return the steps without copies, which a replay repeats only if it is one of a single step."""
    repeated = {step.sequence for step in others}
    return [step for step in steps if not step.copied or step.sequence in repeated]


def _refined(pair: StepPair, left: Side, right: Side) -> StepPair:
    """Return an equal pair as not asked if a replay made no call for one of its steps."""
    if pair.status != "same" or pair.left is None or pair.right is None:
        return pair
    left_out = left.steps[pair.left.sequence].not_asked or right.steps[pair.right.sequence].not_asked
    return replace(pair, status="not_asked") if left_out else pair
