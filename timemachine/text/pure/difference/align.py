"""Aligns two sequences: finds the same items in the same order."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import isqrt
from typing import Final, NamedTuple

from rapidfuzz.distance import Indel, Postfix, Prefix

# The most cells of the table for an exact comparison: 15 ms and 5 MB.
_EXACT: Final = 40_000_000
# How often a part can be cut again at items that occur once on each side.
_DEEPEST: Final = 12


class Block(NamedTuple):
    """A run of `length` equal items, at `old` in one sequence and at `new` in the other."""

    old: int
    new: int
    length: int


def blocks(old: Sequence[int], new: Sequence[int]) -> list[Block]:
    """Return the equal runs of two sequences of interned items, in order, with adjacent runs merged.

    The result is a longest common subsequence (Indel distance) if the table is small enough. Larger pairs are first cut
    at items that occur once on each side (patience diff). Parts without such items are compared in proportional slices.
    """
    if len(old) * len(new) <= _EXACT:
        return list(_exact(old, new, Block(0, 0, 0)))
    left, right = _shared(old, new), _shared(new, old)
    found = _matched([old[i] for i in left], [new[j] for j in right], Block(0, 0, 0), 0)
    apart = (Block(left[b.old + k], right[b.new + k], 1) for b in found for k in range(b.length))
    return _joined(apart)


def _shared(items: Sequence[int], others: Sequence[int]) -> list[int]:
    """Return the indexes of items that the other sequence contains."""
    held = set(others)
    return [index for index, item in enumerate(items) if item in held]


def _matched(old: Sequence[int], new: Sequence[int], at: Block, depth: int) -> Iterator[Block]:
    """Yield the blocks of two parts that start at `at`, after splitting off their common prefix and suffix."""
    head = Prefix.similarity(old, new)
    tail = Postfix.similarity(old[head:], new[head:])
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    inside = Block(at.old + head, at.new + head, 0)
    yield Block(at.old, at.new, head)
    if len(inner_old) * len(inner_new) <= _EXACT:
        yield from _exact(inner_old, inner_new, inside)
    elif anchors := _anchors(inner_old, inner_new) if depth < _DEEPEST else []:
        yield from _cut(inner_old, inner_new, inside, depth, anchors)
    else:
        yield from _sliced(inner_old, inner_new, inside)
    yield Block(at.old + len(old) - tail, at.new + len(new) - tail, tail)


def _sliced(old: Sequence[int], new: Sequence[int], at: Block) -> Iterator[Block]:
    slices = isqrt(len(old) * len(new) // _EXACT) + 1
    for place in range(slices):
        left, right = len(old) * place // slices, len(new) * place // slices
        ends = len(old) * (place + 1) // slices, len(new) * (place + 1) // slices
        yield from _exact(old[left : ends[0]], new[right : ends[1]], Block(at.old + left, at.new + right, 0))


def _exact(old: Sequence[int], new: Sequence[int], at: Block) -> Iterator[Block]:
    if old and new:
        *runs, _ = Indel.editops(old, new).as_matching_blocks()  # the last one is empty and marks the end
        for run in runs:
            yield Block(at.old + run.a, at.new + run.b, run.size)


def _cut(
    old: Sequence[int], new: Sequence[int], at: Block, depth: int, anchors: Sequence[tuple[int, int]]
) -> Iterator[Block]:
    """Yield the anchors, and the blocks of the parts between them."""
    left = right = 0
    for here, there in [*anchors, (len(old), len(new))]:
        if left < here and right < there:
            start = Block(at.old + left, at.new + right, 0)
            yield from _matched(old[left:here], new[right:there], start, depth + 1)
        yield Block(at.old + here, at.new + there, int(here < len(old)))
        left, right = here + 1, there + 1


def _anchors(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """Return the longest run of items that occur once on each side and keep their order."""
    counts, others = Counter(old), Counter(new)
    places = {item: place for place, item in enumerate(new) if others[item] == 1}
    pairs = [(place, places[item]) for place, item in enumerate(old) if counts[item] == 1 and item in places]
    return [pairs[index] for index in increasing([there for _, there in pairs])]


def increasing(values: Sequence[int]) -> list[int]:
    """Return the indexes of a longest increasing subsequence, in order (patience sorting, Fredman 1975)."""
    tails: list[int] = []
    before: list[int] = []
    for index, value in enumerate(values):
        pile = bisect_left(tails, value, key=values.__getitem__)
        before.append(tails[pile - 1] if pile else -1)
        tails[pile : pile + 1] = [index]
    run: list[int] = []
    index = tails[-1] if tails else -1
    while index >= 0:
        run.append(index)
        index = before[index]
    return run[::-1]


def _joined(found: Iterable[Block]) -> list[Block]:
    whole: list[Block] = []
    for block in found:
        last = whole[-1] if whole else Block(0, 0, 0)
        if whole and (last.old + last.length, last.new + last.length) == (block.old, block.new):
            whole[-1] = Block(last.old, last.new, last.length + block.length)
        else:
            whole.append(block)
    return whole
