"""Word-by-word edits between two texts, cut into pieces where both reach the end of a sentence."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, zip_longest
from typing import Final, Literal

from timemachine.text.pure.difference.align import Block, blocks
from timemachine.text.pure.language.words import ALONE
from timemachine.text.redaction.pure.marks import PATTERN

Mark = Literal["same", "removed", "added"]
Edit = tuple[Mark, str]
Stretch = tuple[Mark, list[str]]

# A redaction mark is one token: nothing in it can be compared.
_TOKEN: Final = re.compile(rf"{PATTERN}|[^\W{ALONE}]++(?:['’.,][^\W{ALONE}]++)*+|\s++|[{ALONE}]|[^\w\s]")
# Two edits with at most this many words between them are merged.
MERGED: Final = 2
# Texts that share less than this part of the shorter one's changes are shown as completely different.
_BARELY: Final = 0.25


@dataclass(slots=True)
class Piece:
    """Edits in order, at least one: texts that both sides share ("same"), or that only one has."""

    edits: list[Edit]

    def fate(self) -> Mark | None:
        """Return the mark of all edits, or None if they differ."""
        first = self.edits[0][0]
        for mark, _ in self.edits:
            if mark != first:
                return None
        return first


@dataclass(frozen=True, slots=True)
class Tokens:
    """Words, white space and marks of some sentences. `ends` are the numbers of tokens up to ends of words and sentences."""

    texts: list[str]
    ends: list[int]
    is_end: frozenset[int]

    def between(self, start: int, stop: int) -> list[str]:
        """Return the texts from one end to another, cut at the ends between them."""
        return [
            "".join(self.texts[left:right])
            for left, right in _cuts(start, stop, _between(self.ends, start, stop))
        ]


def replaced(old: str, new: str) -> Iterator[Piece]:
    """Yield one text as replaced by another. One of them may be empty."""
    edits: list[Edit] = [("same", old)] if old == new else [("removed", old), ("added", new)]
    yield Piece([edit for edit in edits if edit[1]])


def compared(left: Tokens, right: Tokens) -> Iterator[Piece]:
    """Yield the pieces that turn the left text into the right one."""
    ids = {token: number for number, token in enumerate(dict.fromkeys(chain(left.texts, right.texts)))}
    aligned = blocks([ids[token] for token in left.texts], [ids[token] for token in right.texts])
    start_old = start_new = 0
    stretches: list[Stretch] = []
    for stretch, end_old, end_new in _stretches(aligned, left, right):
        stretches.append(stretch)
        if end_old in left.is_end and end_new in right.is_end:
            piece = Piece(merged(stretches))
            if piece.fate() or not _barely_shared(piece):
                yield piece
            else:  # show each sentence as replaced by the other one completely
                old, new = left.between(start_old, end_old), right.between(start_new, end_new)
                for one, other in zip_longest(old, new, fillvalue=""):
                    yield from replaced(one, other)
            start_old, start_new, stretches = end_old, end_new, []


def _barely_shared(piece: Piece) -> bool:
    """Return whether both texts are long but share almost nothing."""
    lengths = {"same": 0, "removed": 0, "added": 0}
    for mark, text in piece.edits:
        lengths[mark] += len(text)
    return lengths["same"] < _BARELY * min(lengths["removed"], lengths["added"])


def tokens_of(gap: str, found: Sequence[str]) -> Tokens:
    """Return the tokens of white space (possibly none) and the sentences after it."""
    texts = [gap] if gap else []
    ends = [0, len(texts)]
    for sentence in found:
        body = sentence.rstrip()
        texts += _TOKEN.findall(body)
        ends.append(len(texts))
        texts += _TOKEN.findall(sentence, len(body))
        ends.append(len(texts))
    return Tokens(texts, ends, frozenset(ends))


def _stretches(aligned: Sequence[Block], left: Tokens, right: Tokens) -> Iterator[tuple[Stretch, int, int]]:
    """Yield the path from one text to the other, cut wherever both are at an end of words or of a sentence.

    Each stretch has the numbers of tokens of each text up to its end.
    """
    i = j = 0
    for block in [*aligned, Block(len(left.texts), len(right.texts), 0)]:
        inner = _between(left.ends, i, block.old) if j in right.is_end else ()
        for start, end in _cuts(i, block.old, inner):
            yield ("removed", left.texts[start:end]), end, j
        inner = _between(right.ends, j, block.new) if block.old in left.is_end else ()
        for start, end in _cuts(j, block.new, inner):
            yield ("added", right.texts[start:end]), block.old, end
        shift, i = block.new - block.old, block.old + block.length
        inner = [at for at in _between(left.ends, block.old, i) if at + shift in right.is_end]
        for start, end in _cuts(block.old, i, inner):
            yield ("same", left.texts[start:end]), end, end + shift
        j = i + shift


def _between(ends: list[int], start: int, stop: int) -> list[int]:
    """Return the ends after `start` and before `stop`."""
    return ends[bisect_right(ends, start) : bisect_left(ends, stop)]


def _cuts(start: int, stop: int, inner: Sequence[int]) -> Iterator[tuple[int, int]]:
    return ((left, right) for left, right in pairwise([start, *inner, stop]) if left < right)


def merged(stretches: Sequence[Stretch]) -> list[Edit]:
    """Merge edits that hardly anything separates: first what was removed, then what was added."""
    last = len(stretches) - 1
    found: list[Edit] = []
    removed = added = ""
    for place, (mark, tokens_) in enumerate(stretches):
        text = "".join(tokens_)
        if mark == "same" and (place in (0, last) or are_many(tokens_)):
            found += [("removed", removed), ("added", added), ("same", text)]
            removed = added = ""
        else:
            removed += "" if mark == "added" else text
            added += "" if mark == "removed" else text
    return [edit for edit in [*found, ("removed", removed), ("added", added)] if edit[1]]


def are_many(tokens: Sequence[str]) -> bool:
    """Return whether the tokens have enough words to keep the edits around them separate."""
    words = 0
    for token in tokens[: 2 * MERGED + 2]:
        words += not token.isspace()
    return words > MERGED


def tokens(text: str) -> list[str]:
    """Return the words, white space and marks of a text."""
    return _TOKEN.findall(text)


def gap_after(sentence: str) -> str:
    """Return the white space after a sentence."""
    return sentence[len(sentence.rstrip()) :]
