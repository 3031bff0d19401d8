"""A text diff before it is laid out: sentences that stand against each other, and the edits inside the changed ones."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final

from timemachine.difference.align import Block, blocks
from timemachine.difference.edits import Piece, compared, gap_after, replaced, tokens_of
from timemachine.difference.twins import twins
from timemachine.language.sentences import Sentence, sentences

_LEAST_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class _Run:
    """Sentences that stand against each other, word for word equal (`same`) or not."""

    old: Sequence[Sentence]
    new: Sequence[Sentence]
    same: bool


def pieces(old: str, new: str) -> Iterator[Piece]:
    """The edits that make `new` of `old`, cut where both are between two sentences (or at the end of one's words)."""
    runs = list(_runs(sentences(old), sentences(new)))
    moved = _moved(runs)
    gaps = ("", "")
    for run in runs:
        if run.same:
            yield from chain.from_iterable(map(_unchanged, run.old[:-1], run.new[:-1]))
            yield Piece([("same", run.old[-1].body)])
            gaps = (gap_after(run.old[-1]), gap_after(run.new[-1]))
        else:
            yield from _twins(run, moved, gaps) or _changed(run, moved, gaps)
            gaps = ("", "")
    yield from replaced(*gaps)


def _runs(left: Sequence[Sentence], right: Sequence[Sentence]) -> Iterator[_Run]:
    ids: dict[str, int] = {}
    old = [ids.setdefault(sentence.body, len(ids)) for sentence in left]
    new = [ids.setdefault(sentence.body, len(ids)) for sentence in right]
    at = Block(0, 0, 0)
    for block in [*blocks(old, new), Block(len(old), len(new), 0)]:
        start, begin = at.old + at.length, at.new + at.length
        if start < block.old or begin < block.new:
            yield _Run(left[start : block.old], right[begin : block.new], same=False)
        if block.length:
            yield _Run(
                left[block.old : block.old + block.length],
                right[block.new : block.new + block.length],
                same=True,
            )
        at = block


def _moved(runs: Iterable[_Run]) -> frozenset[str]:
    """The sentences, without the white space after them, that were taken out in one place and put in, unchanged, in another."""
    changed = [run for run in runs if not run.same]
    removed = {each.body for run in changed for each in run.old}
    added = {each.body for run in changed for each in run.new}
    return frozenset(body for body in removed & added if moving_key(body))


def moving_key(text: str) -> str | None:
    """What a sentence is recognised by in another place; None where it has too few words to be recognised."""
    words = text.split()
    return " ".join(words) if len(words) >= _LEAST_WORDS else None


def _unchanged(one: Sentence, other: Sentence) -> Iterator[Piece]:
    if one.text == other.text:
        yield Piece([("same", one.text)])
    else:
        yield Piece([("same", one.body)])
        yield from replaced(gap_after(one), gap_after(other))


def _twins(run: _Run, moved: frozenset[str], gaps: tuple[str, str]) -> list[Piece] | None:
    """The pieces of a run of twins of which none moved, with the white space before it on either side."""
    if moved and any(each.body in moved for each in (*run.old, *run.new)):
        return None
    found = twins(run.old, run.new)
    return [*replaced(*gaps), *found] if found is not None else None


def _changed(run: _Run, moved: frozenset[str], gaps: tuple[str, str]) -> Iterator[Piece]:
    """The pieces of a changed run, with the white space before it on either side.

    A moved sentence is a piece of its own; what stands between two of them is compared.
    """
    nothing = _Part([], None)
    for one, other in zip_longest(_parted(run.old, moved), _parted(run.new, moved), fillvalue=nothing):
        yield from compared(tokens_of(gaps[0], one.before), tokens_of(gaps[1], other.before))
        gaps = ("", "")
        if one.moved:
            yield Piece([("removed", one.moved.text)])
        if other.moved:
            yield Piece([("added", other.moved.text)])


@dataclass(frozen=True, slots=True)
class _Part:
    """Sentences that did not move, and the one after them that did."""

    before: Sequence[Sentence]
    moved: Sentence | None


def _parted(found: Sequence[Sentence], moved: frozenset[str]) -> list[_Part]:
    parts: list[_Part] = []
    start = 0
    for place, sentence in enumerate(found):
        if sentence.body in moved:
            parts.append(_Part(found[start:place], sentence))
            start = place + 1
    return [*parts, _Part(found[start:], None)]
