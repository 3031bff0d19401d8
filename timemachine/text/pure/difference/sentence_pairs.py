"""A shortcut for changed sentences that clearly correspond one to one: only the parts between their common ends are compared."""

from collections.abc import Sequence
from typing import Final

from rapidfuzz.distance import Indel, Postfix, Prefix

from timemachine.text.pure.difference.edits import MERGED, Edit, Piece, Stretch, merged, tokens
from timemachine.text.redaction.pure.marks import has_mark

# Two sentences correspond if they share this part of the shorter one's characters, in order.
_ALIKE: Final = 0.5
# The largest part of words that may differ in a comparison word by word.
_FEW: Final = 0.5


def paired_edits(old: Sequence[str], new: Sequence[str]) -> list[Piece] | None:
    """Return a piece for each pair of sentences, or None if they do not all correspond. A shortcut for `edits.compared`."""
    if len(old) != len(new):
        return None
    found: list[Piece] = []
    for one, other in zip(old, new, strict=True):
        edits = _edits(one, other)
        if edits is None:
            return None
        found.append(Piece(edits))
    return found


def _edits(old: str, new: str) -> list[Edit] | None:
    if old[-1].isspace() != new[-1].isspace() or has_mark(old) or has_mark(new):
        return None  # a mark contains white space but is one token
    shorter = min(len(old), len(new))
    head = _head(old, new, shorter)
    tail = _tail(old, new, shorter - head)
    one, other = old[head : len(old) - tail], new[head : len(new) - tail]
    if head and tail and one.isalnum() and other.isalnum() and head + tail >= _ALIKE * shorter:
        return [("same", old[:head]), ("removed", one), ("added", other), ("same", new[len(new) - tail :])]
    ends = old[:head], old[len(old) - tail :]
    found = _word_for_word(one, other, ends) or merged(
        _enclosed(_stretches(tokens(one), tokens(other)), *ends)
    )
    shared = sum([len(text) for mark, text in found if mark == "same"])
    return found if shared >= _ALIKE * shorter else None


def _word_for_word(old: str, new: str, ends: tuple[str, str]) -> list[Edit] | None:
    """Return the edits if words were replaced in place. None if the number of words or too many words differ.

    `ends` is what both sentences begin and end with.
    """
    left, right = old.split(" "), new.split(" ")
    if len(left) != len(right):
        return None
    others = [place for place, pair in enumerate(zip(left, right, strict=True)) if pair[0] != pair[1]]
    if not others or len(others) > max(_FEW * len(left), MERGED + 1):
        return None
    edits: list[Edit] = []
    before, behind, start, end = ends[0], 0, others[0], others[0] + 1
    for place in [*others[1:], len(left) + MERGED + 1]:
        if place - end > MERGED:
            head, removed, added, tail = _put(" ".join(left[start:end]), " ".join(right[start:end]))
            stretch = before + _stretch(left, behind, start) + head
            edits += (("same", stretch), ("removed", removed), ("added", added))
            before, behind, start = tail, end, place
        end = place + 1
    edits.append(("same", before + _stretch(left, behind, len(left)) + ends[1]))
    return [edit for edit in edits if edit[1]]


def _stretch(words: list[str], start: int, end: int) -> str:
    """Return the words with the blanks around them."""
    return " ".join(["", *words[start:end]] if start else words[start:end]) + " " * (start < end < len(words))


def _put(old: str, new: str) -> tuple[str, str, str, str]:
    """Return the common prefix, what was removed, what was added, and the common suffix."""
    if (old[:1] != new[:1] and old[-1:] != new[-1:]) or (old.isalnum() and new.isalnum()):
        return "", old, new, ""
    left, right = tokens(old), tokens(new)
    most = min(len(left), len(right))
    head = next((n for n in range(most) if left[n] != right[n]), most)
    tail = next((n for n in range(most - head) if left[-1 - n] != right[-1 - n]), most - head)
    ends = len(left) - tail, len(right) - tail
    parts = left[:head], left[head : ends[0]], right[head : ends[1]], left[ends[0] :]
    first, removed, added, last = ("".join(part) for part in parts)
    return first, removed, added, last


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
    """Return the stretches with the common prefix and suffix."""
    if before:
        first = stretches.pop(0)[1] if stretches and stretches[0][0] == "same" else []
        stretches.insert(0, ("same", [before, *first]))
    if after:
        last = stretches.pop()[1] if stretches and stretches[-1][0] == "same" else []
        stretches.append(("same", [*last, after]))
    return stretches


def _head(old: str, new: str, most: int) -> int:
    """Return the length of the common prefix, up to the beginning of a word."""
    shared = min(Prefix.similarity(old, new), most)
    start = old.rfind(" ", 0, shared) + 1
    inside = old[start : start + 1].isspace() or new[start : start + 1].isspace()
    return len(old[:start].rstrip()) if inside else start


def _tail(old: str, new: str, most: int) -> int:
    """Return the length of the common suffix, from the end of a word."""
    shared = min(Postfix.similarity(old, new), most)
    start = old.find(" ", len(old) - shared)
    if start < 0:
        return 0
    tail = len(old) - start
    inside = old[start - 1 : start].isspace() or new[len(new) - tail - 1 : len(new) - tail].isspace()
    return len(old[start:].lstrip()) if inside else tail
