"""Aligns two runs by the content of their steps, not by number: an inserted step does not shift the rest."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from operator import attrgetter
from typing import Final, Literal

from timemachine.text.pure.difference.align import Block, blocks
from timemachine.text.pure.difference.similarity import most_alike
from timemachine.text.pure.difference.steps import Field, StepFacts, differing

Status = Literal["same", "modified", "moved", "only_left", "only_right", "not_asked"]
Key = Callable[[StepFacts], tuple[str, ...]]
STATUSES: Final[tuple[Status, ...]] = ("same", "modified", "moved", "only_left", "only_right", "not_asked")

# The most cells of the table for comparing all steps with all: 0.3 s and 60 MB.
_COMPARED: Final = 3_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPair:
    """A step of the left run and the corresponding one of the right run, or None if no step corresponds to it.

    A `moved` step is in two pairs, one at each place with one side; `moved` is the sequence number of the step on the
    other side. `differs_in` lists the differences of a modified pair or of a moved step, and is empty for all other
    statuses. `not_asked` is never set here: a caller that knows that a call was skipped sets it on an otherwise equal
    pair.
    """

    status: Status
    left: StepFacts | None
    right: StepFacts | None
    differs_in: tuple[Field, ...] = ()
    moved: int | None = None


@dataclass(frozen=True, slots=True)
class _At:
    """The start of two parts of the runs."""

    left: int
    right: int


def align_steps(left: Sequence[StepFacts], right: Sequence[StepFacts]) -> tuple[StepPair, ...]:
    """Return every step of both runs as pairs, in the order of both. A step at different places on each side has moved.

    Swapping the runs gives the mirror image. Runs of up to 1,700 steps each are compared step by step. For longer ones,
    the parts between equal steps are compared, and without steps that are equal or do the same, proportional slices.
    """
    if _is_in_order(left, right):
        matches = [*_matched(left, right)]
    else:
        matches = [(here, there) for there, here in _matched(right, left)]
    return tuple(_with_moves([*_pairs(left, right, matches)]))


def align_by_sequence(left: Sequence[StepFacts], right: Sequence[StepFacts]) -> tuple[StepPair, ...]:
    """Return every step of two runs of one session as pairs: equal sequence numbers are the same step."""
    places = {step.sequence: place for place, step in enumerate(right)}
    matches = [(here, places[step.sequence]) for here, step in enumerate(left) if step.sequence in places]
    return tuple(_pairs(left, right, matches))


def _is_in_order(left: Sequence[StepFacts], right: Sequence[StepFacts]) -> bool:
    """Compare runs by an order of their own, so that the result does not depend on which one is left."""
    if len(left) != len(right):
        return len(left) < len(right)
    keys = (((*step.fingerprint, step.words) for step in steps) for steps in (left, right))
    return next((one < other for one, other in zip(*keys, strict=True) if one != other), True)


def _pairs(
    left: Sequence[StepFacts], right: Sequence[StepFacts], matches: Sequence[tuple[int, int]]
) -> Iterator[StepPair]:
    """Yield the steps of both runs in order; between two matches, those of the left run first."""
    i = j = 0
    for here, there in [*matches, (len(left), len(right))]:
        yield from (StepPair(status="only_left", left=step, right=None) for step in left[i:here])
        yield from (StepPair(status="only_right", left=None, right=step) for step in right[j:there])
        if here < len(left):
            differs_in = differing(left[here], right[there])
            status: Status = "modified" if differs_in else "same"
            yield StepPair(status=status, left=left[here], right=right[there], differs_in=differs_in)
        i, j = here + 1, there + 1


# Steps of long runs are matched first by all that is compared, then by what was done.
_ANCHORS: Final[tuple[Key, ...]] = (attrgetter("fingerprint"), attrgetter("doing"))


def _with_moves(pairs: list[StepPair]) -> list[StepPair]:
    """Mark each step that is only in another place as moved, in both places: first equal ones, then those that do the same."""
    for key in _ANCHORS:
        waiting: dict[tuple[str, ...], deque[tuple[int, StepFacts]]] = defaultdict(deque)
        for place, step in _alone(pairs, "only_left"):
            waiting[key(step)].append((place, step))
        for place, step in _alone(pairs, "only_right"):
            if waiting.get(key(step)):
                other, away = waiting[key(step)].popleft()
                differs_in = differing(away, step)
                for at, elsewhere in ((other, step), (place, away)):
                    pairs[at] = replace(
                        pairs[at], status="moved", differs_in=differs_in, moved=elsewhere.sequence
                    )
    return pairs


def _alone(pairs: Sequence[StepPair], status: Status) -> list[tuple[int, StepFacts]]:
    """Return the steps that only one run has, with their places, if they have content by which they can be recognized."""
    steps = [(place, pair.left or pair.right) for place, pair in enumerate(pairs) if pair.status == status]
    return [
        (place, step)
        for place, step in steps
        if step and any((step.name, step.input, step.output, step.error))
    ]


def _matched(left: Sequence[StepFacts], right: Sequence[StepFacts]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of indexes of two runs, after splitting off their common prefix and suffix."""
    head = _shared_head(left, right)
    tail = _shared_head(left[head:][::-1], right[head:][::-1])
    yield from ((place, place) for place in range(head))
    ends = len(left) - tail, len(right) - tail
    yield from _within(left[head : ends[0]], right[head : ends[1]], _At(head, head), _ANCHORS)
    yield from ((ends[0] + place, ends[1] + place) for place in range(tail))


def _within(
    left: Sequence[StepFacts], right: Sequence[StepFacts], at: _At, anchors: Sequence[Key]
) -> Iterator[tuple[int, int]]:
    if not left or not right:
        return
    if len(left) * len(right) <= _COMPARED:
        yield from ((at.left + here, at.right + there) for here, there in most_alike(left, right))
    elif anchors:
        yield from _anchored(left, right, at, anchors)
    else:
        yield from _sliced(left, right, at)


def _anchored(
    left: Sequence[StepFacts], right: Sequence[StepFacts], at: _At, anchors: Sequence[Key]
) -> Iterator[tuple[int, int]]:
    """Yield the longest run of steps with equal keys, and the matches of the parts between them."""
    i = j = 0
    for block in [*_equal(left, right, anchors[0]), Block(len(left), len(right), 0)]:
        start = _At(at.left + i, at.right + j)
        yield from _within(left[i : block.old], right[j : block.new], start, anchors[1:])
        yield from ((at.left + block.old + k, at.right + block.new + k) for k in range(block.length))
        i, j = block.old + block.length, block.new + block.length


def _equal(left: Sequence[StepFacts], right: Sequence[StepFacts], key: Key) -> list[Block]:
    ids: dict[tuple[str, ...], int] = {}
    return blocks(
        [ids.setdefault(key(step), len(ids)) for step in left],
        [ids.setdefault(key(step), len(ids)) for step in right],
    )


def _sliced(left: Sequence[StepFacts], right: Sequence[StepFacts], at: _At) -> Iterator[tuple[int, int]]:
    """Compare parts without anything in common in proportional slices."""
    slices = isqrt(len(left) * len(right) // _COMPARED) + 1
    for place in range(slices):
        i, j = len(left) * place // slices, len(right) * place // slices
        ends = len(left) * (place + 1) // slices, len(right) * (place + 1) // slices
        yield from _within(left[i : ends[0]], right[j : ends[1]], _At(at.left + i, at.right + j), ())


def _shared_head(left: Sequence[StepFacts], right: Sequence[StepFacts]) -> int:
    shared = 0
    for one, other in zip(left, right, strict=False):
        if one.fingerprint != other.fingerprint:
            break
        shared += 1
    return shared
