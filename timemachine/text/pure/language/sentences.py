"""Splits a text into sentences that cover it: exact offsets, any script, linear time."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

import sentencex

# A line break ends a sentence, together with following blank lines; indentation belongs to the line that it indents.
# Full stops of scripts without spaces between sentences end one too. _LINE is the part that can match in ASCII, and fast.
_LINE: Final = re.compile(r"\n(?:[^\S\n]*\n)*")
_BREAK: Final = re.compile(r"\n(?:[^\S\n]*\n)*|[。！？｡।॥؟۔።]+[」』）】”’]*[^\S\n]*")
_MARKER: Final = re.compile(r"[(\[]?(?:\d{1,3}|[A-Za-z])[.)\]]|[-*+•·#>|]+")
_LONGEST_NUMBER: Final = 5
_SIGNS: Final = frozenset("-*+•·#>|")
_FULL_STOP: Final = re.compile(r"[.!?]")
# `sentencex` is quadratic in the apostrophes of a line. This window limits that, and is longer than any real sentence.
_WINDOW: Final = 4_000
_QUOTES: Final = frozenset("“”„«»‟")
_APOSTROPHES: Final = frozenset("’‘")
_OF_CATEGORY: Final = {"Lu": "X", "Lt": "X", "Nd": "0", "L": "x", "M": "x"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence with the white space after it: the text from `start` to before `end` (in characters)."""

    text: str
    start: int
    end: int

    @property
    def body(self) -> str:
        """The sentence without the white space after it."""
        return self.text.rstrip()


def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text in order. Joined, they are the text. An empty text has none.

    A line break ends a sentence. A list marker ("1.", "-") belongs to what follows it, white space to what precedes it.
    Within a line, the boundaries are those of `sentencex` for English.
    """
    return tuple(
        Sentence(text=text[start:end], start=start, end=end) for start, end in pairwise([0, *_ends(text)])
    )


def sentence_texts(text: str) -> list[str]:
    """Return only the texts of the sentences, each with the white space after it; faster for long texts."""
    return [text[start:end] for start, end in pairwise([0, *_ends(text)])]


class _Shadow(dict[int, str]):
    """An ASCII stand-in for each character, one for one.

    `sentencex` counts bytes: with other characters it takes quadratic time, and its abbreviation check panics inside
    them.
    """

    def __missing__(self, code: int) -> str:
        self[code] = _stand_in(chr(code))
        return self[code]


def _stand_in(character: str) -> str:
    if " " <= character <= "~":
        return character
    if character.isspace():
        return " "
    if character in _QUOTES:
        return '"'
    if character in _APOSTROPHES:
        return "'"
    category = unicodedata.category(character)
    return _OF_CATEGORY.get(category) or _OF_CATEGORY.get(category[0], ",")


_SHADOW: Final = _Shadow()


def _ends(text: str) -> list[int]:
    """Return where sentences end. A marker and leading blanks join the next piece, other blanks the previous one."""
    ends: list[int] = []
    waiting, start = True, 0
    for end in _cuts(text):
        if body := text[start:end].strip():
            waiting = (len(body) <= _LONGEST_NUMBER or body[0] in _SIGNS) and bool(_MARKER.fullmatch(body))
            if not waiting:
                ends.append(end)
        elif not waiting:
            ends[-1] = end
        start = end
    return [*ends, start] if waiting and text else ends


def _cuts(text: str) -> Iterator[int]:
    shadow = text.translate(_SHADOW)
    start = 0
    for found in (_LINE if text.isascii() else _BREAK).finditer(text):
        yield from _cuts_in_line(shadow, start, found.end())
        start = found.end()
    if start < len(text):
        yield from _cuts_in_line(shadow, start, len(text))


def _cuts_in_line(shadow: str, start: int, end: int) -> Iterator[int]:
    while _FULL_STOP.search(shadow, start, end):
        stop = min(start + _WINDOW, end)
        inner = [*accumulate(map(len, sentencex.segment("en", shadow[start:stop])), initial=start)][1:-1]
        yield from inner
        if stop == end:
            break
        start = inner[-1] if inner else stop
    yield end
