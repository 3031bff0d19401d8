"""A text diff before layout: aligned sentences, and the edits in the changed ones."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final, NamedTuple

from timemachine.text.pure.difference.align import Block, blocks
from timemachine.text.pure.difference.edits import Piece, compared, gap_after, replaced, tokens_of
from timemachine.text.pure.difference.sentence_pairs import paired_edits
from timemachine.text.pure.language.sentences import sentence_texts

_LEAST_WORDS: Final = 2


class _Run(NamedTuple):
    """Aligned sentences, equal (`same`) or not. `bodies` are those that differ, without the white space after them."""

    old: Sequence[str]
    new: Sequence[str]
    same: bool
    bodies: tuple[Sequence[str], Sequence[str]] = ((), ())


def pieces(old: str, new: str) -> Iterator[Piece]:
    """Yield the edits that turn `old` into `new`, cut where both are between two sentences (or at the end of one's words)."""
    runs = list(_runs(sentence_texts(old), sentence_texts(new)))
    moved = _moved(runs)
    last: tuple[str, str] | None = None
    for run in runs:
        if run.same:
            yield from chain.from_iterable(map(_unchanged, run.old[:-1], run.new[:-1]))
            last = run.old[-1], run.new[-1]
        else:
            yield from _paired(run, moved, last) or _changed(run, moved, last)
            last = None
    if last:
        yield from _unchanged(*last)


def _runs(left: Sequence[str], right: Sequence[str]) -> Iterator[_Run]:
    ids: dict[str, int] = {}
    bodies = [[each.rstrip() for each in side] for side in (left, right)]
    old, new = ([ids.setdefault(body, len(ids)) for body in side] for side in bodies)
    at = Block(0, 0, 0)
    for block in [*blocks(old, new), Block(len(old), len(new), 0)]:
        start, begin = at.old + at.length, at.new + at.length
        ends = block.old + block.length, block.new + block.length
        if start < block.old or begin < block.new:
            apart = bodies[0][start : block.old], bodies[1][begin : block.new]
            yield _Run(left[start : block.old], right[begin : block.new], same=False, bodies=apart)
        if block.length:
            yield _Run(left[block.old : ends[0]], right[block.new : ends[1]], same=True)
        at = block


def _moved(runs: Iterable[_Run]) -> frozenset[str]:
    """Return the sentences that were removed in one place and inserted unchanged in another."""
    changed = [run for run in runs if not run.same]
    removed = {body for run in changed for body in run.bodies[0]}
    added = {body for run in changed for body in run.bodies[1]}
    return frozenset(body for body in removed & added if moving_key(body))


def moving_key(text: str) -> str | None:
    """Return the key by which a sentence is recognized in another place. None if it has too few words."""
    words = text.split()
    return " ".join(words) if len(words) >= _LEAST_WORDS else None


def _unchanged(one: str, other: str) -> list[Piece]:
    """Return the pieces of a sentence that both have, with the white space after it on each side."""
    if one == other:
        return [Piece([("same", one)])]
    return [Piece([("same", one.rstrip())]), *replaced(gap_after(one), gap_after(other))]


def _paired(run: _Run, moved: frozenset[str], last: tuple[str, str] | None) -> list[Piece] | None:
    """Return the pieces of a run whose sentences pair up, preceded by the `last` common sentence. None if some moved."""
    if not all(moved.isdisjoint(bodies) for bodies in run.bodies):
        return None
    found = paired_edits(run.old, run.new)
    return found if found is None or last is None else [*_unchanged(*last), *found]


def _changed(run: _Run, moved: frozenset[str], last: tuple[str, str] | None) -> Iterator[Piece]:
    """Yield the pieces of a changed run, preceded by the `last` common sentence, after which white space is compared.

    A moved sentence is a separate piece. The parts between two of them are compared.
    """
    gaps = ("", "")
    if last:
        yield Piece([("same", last[0].rstrip())])
        gaps = gap_after(last[0]), gap_after(last[1])
    empty = _Part([], None)
    for one, other in zip_longest(_parted(run.old, moved), _parted(run.new, moved), fillvalue=empty):
        yield from compared(tokens_of(gaps[0], one.before), tokens_of(gaps[1], other.before))
        gaps = ("", "")
        if one.moved:
            yield Piece([("removed", one.moved)])
        if other.moved:
            yield Piece([("added", other.moved)])


@dataclass(frozen=True, slots=True)
class _Part:
    """Sentences that did not move, and the moved one after them."""

    before: Sequence[str]
    moved: str | None


def _parted(found: Sequence[str], moved: frozenset[str]) -> list[_Part]:
    parts: list[_Part] = []
    start = 0
    for place, sentence in enumerate(found):
        if sentence.rstrip() in moved:
            parts.append(_Part(found[start:place], sentence))
            start = place + 1
    return [*parts, _Part(found[start:], None)]


def with_gaps_joined(found: Sequence[Piece]) -> list[Piece]:
    """Attach white space between two sentences to the one with the same mark.

    Return the pieces in order, none of them only white space if there is a sentence to attach it to.
    """
    if not any(map(_is_gap, found)):
        return list(found)
    joined: list[Piece] = []
    waiting: Piece | None = None
    settled = _slid(list(found))
    for place, piece in enumerate(settled):
        current = Piece([*waiting.edits, *piece.edits]) if waiting else piece
        waiting = None
        if not _is_gap(current):
            joined.append(current)
        elif joined and _goes_back(current, joined[-1], settled[place + 1 : place + 2]):
            joined[-1].edits.extend(current.edits)
        else:
            waiting = current
    return [*joined, waiting] if waiting else joined


def _slid(found: list[Piece]) -> list[Piece]:
    """Shift "white space, sentence" before equal white space to "sentence, white space"."""
    start = 0
    for place, piece in enumerate(found):
        fate, first = piece.fate(), found[start]
        if fate != "same":
            if fate is None or fate != first.fate():
                start = place
            continue
        if start < place and _is_gap(piece) and _is_gap(first) and _text(first) == _text(piece):
            text = _text(piece)
            found[start], found[place] = (Piece([(each.edits[0][0], text)]) for each in (first, piece))
        start = place + 1
    return found


def _text(piece: Piece) -> str:
    return "".join(text for _, text in piece.edits)


def _is_gap(piece: Piece) -> bool:
    return piece.edits[0][1].isspace() and all(text.isspace() for _, text in piece.edits)


def _goes_back(gap: Piece, before: Piece, following: Sequence[Piece]) -> bool:
    """Return whether a gap belongs to the piece before it rather than to the following one."""
    if not following or gap.fate() == before.fate():
        return True
    if gap.fate() == "same":
        return before.fate() is None
    return gap.fate() != following[0].fate()
