"""Changed sentences that plainly belong together one by one: of each pair only what lies between its like ends is compared."""

from collections.abc import Sequence
from typing import Final

from rapidfuzz.distance import Indel

from timemachine.difference.edits import Edit, Piece, Stretch, merged, tokens
from timemachine.language.sentences import Sentence

# Two sentences are twins when they share this part of the characters of the shorter one, in their order.
_ALIKE: Final = 0.5


def twins(old: Sequence[Sentence], new: Sequence[Sentence]) -> list[Piece] | None:
    """A piece for each pair of sentences, None where they are not twins all the way. It is a shortcut for `edits.compared`."""
    if len(old) != len(new):
        return None
    found: list[Piece] = []
    for one, other in zip(old, new, strict=True):
        edits = _edits(one.text, other.text)
        if edits is None:
            return None
        found.append(Piece(edits))
    return found


def _edits(old: str, new: str) -> list[Edit] | None:
    if old[-1].isspace() != new[-1].isspace():
        return None
    shorter = min(len(old), len(new))
    head = _head(old, new, shorter)
    tail = _tail(old, new, shorter - head)
    one, other = old[head : len(old) - tail], new[head : len(new) - tail]
    if head and tail and one.isalnum() and other.isalnum() and head + tail >= _ALIKE * shorter:
        return [("same", old[:head]), ("removed", one), ("added", other), ("same", new[len(new) - tail :])]
    stretches = _stretches(tokens(one), tokens(other))
    shared = head + tail + sum([len(text) for mark, texts in stretches if mark == "same" for text in texts])
    if shared < _ALIKE * shorter:
        return None
    return merged(_enclosed(stretches, old[:head], old[len(old) - tail :]))


def _stretches(left: list[str], right: list[str]) -> list[Stretch]:
    ids: dict[str, int] = {}
    one = [ids.setdefault(token, len(ids)) for token in left]
    other = [ids.setdefault(token, len(ids)) for token in right]
    found: list[Stretch] = []
    for step in Indel.opcodes(one, other):
        if step.tag == "equal":
            found.append(("same", left[step.src_start : step.src_end]))
        elif step.tag == "delete":
            found.append(("removed", left[step.src_start : step.src_end]))
        else:
            found.append(("added", right[step.dest_start : step.dest_end]))
    return found


def _enclosed(stretches: list[Stretch], before: str, after: str) -> list[Stretch]:
    """The stretches with what both sentences begin and end with."""
    if before:
        first = stretches.pop(0)[1] if stretches and stretches[0][0] == "same" else []
        stretches.insert(0, ("same", [before, *first]))
    if after:
        last = stretches.pop()[1] if stretches and stretches[-1][0] == "same" else []
        stretches.append(("same", [*last, after]))
    return stretches


def _head(old: str, new: str, most: int) -> int:
    """How many characters both begin with, up to the beginning of a word."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    start = old.rfind(" ", 0, low) + 1
    inside = old[start : start + 1].isspace() or new[start : start + 1].isspace()
    return len(old[:start].rstrip()) if inside else start


def _tail(old: str, new: str, most: int) -> int:
    """How many characters both end with, from the end of a word on."""
    low, high, ends = 0, most, (len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[ends[0] - middle : ends[0] - low] == new[ends[1] - middle : ends[1] - low]:
            low = middle
        else:
            high = middle - 1
    start = old.find(" ", ends[0] - low)
    if start < 0:
        return 0
    tail = ends[0] - start
    inside = old[start - 1 : start].isspace() or new[ends[1] - tail - 1 : ends[1] - tail].isspace()
    return len(old[start:].lstrip()) if inside else tail
