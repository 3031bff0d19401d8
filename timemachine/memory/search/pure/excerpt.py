"""Choose the passage of a step that is shown with a hit, and its highlighted words. Pure."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

SIZE: Final = 240
"""Maximum number of characters of a passage."""
LOOKED_AT: Final = 200
"""Maximum number of places in a text that are compared."""
_BEFORE: Final = 60
_READ: Final = 4_000
"""How many characters of a text are searched for a readable beginning."""
_LONG_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{100,}={0,2}")
_OF_BASE64: Final = (re.compile("[A-Z]"), re.compile("[a-z]"), re.compile("[0-9]"))
"""What a long run has if it is base64, as of images and encrypted reasoning."""
_SHORT_STEM: Final = 4
_WORD: Final = re.compile(r"[^\W_]+")
_SPACE: Final = re.compile(r"\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text of a step, and which part it is: error, output, input or name."""

    part: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """An excerpt of one part of a step; `begins` and `ends` tell whether it includes the begin and the end of the
    part.
    """

    part: str
    text: str
    begins: bool
    ends: bool


def passage(sources: Sequence[Source], stems: Collection[str]) -> Passage | None:
    """Return the passage with the most search terms; if there are none, the beginning of the first readable text, without base64."""
    non_empty = [source for source in sources if source.text.strip()]
    if not non_empty:
        return None
    pattern = _pattern(stems)
    best, at, most = non_empty[0], 0, 0
    for source in non_empty:
        for place in islice(pattern.finditer(source.text), LOOKED_AT) if pattern else ():
            near = (
                pattern.findall(source.text, place.start(), place.start() + SIZE - _BEFORE) if pattern else []
            )
            if (number := len({each.lower() for each in near})) > most:
                best, at, most = source, place.start(), number
    return _around(best, at) if most else next(filter(None, map(_beginning, non_empty)), None)


def _beginning(source: Source) -> Passage | None:
    """Return the beginning of a text with an ellipsis in place of base64; None if nothing else is in it."""
    readable = _LONG_RUN.sub(_without_base64, source.text[:_READ])
    if not _WORD.search(readable):
        return None
    whole = len(source.text) <= _READ and len(readable) <= SIZE
    return Passage(part=source.part, text=readable[:SIZE], begins=True, ends=whole)


def _without_base64(run: re.Match[str]) -> str:
    return "…" if all(each.search(run[0]) for each in _OF_BASE64) else run[0]


def words_in(text: str) -> list[str]:
    """Return the words of a passage, without duplicates, in lower case."""
    return [*dict.fromkeys(word.lower() for word in _WORD.findall(text))]


def marks(text: str, matching: Collection[str], literals: Collection[str]) -> list[tuple[int, int]]:
    """Return the ranges to highlight: matching words and literal terms, without overlaps."""
    found = [word.span() for word in _WORD.finditer(text) if word.group().lower() in matching]
    for literal in literals:
        alone = rf"(?<!\w){re.escape(literal)}(?!\w)"
        found += [place.span() for place in re.finditer(alone, text, re.IGNORECASE)]
    return _joined(text, sorted(found))


def _joined(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges, merged if they overlap, touch or are one character apart."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and _adjoin(text, joined[-1][1], start):
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _adjoin(text: str, end: int, start: int) -> bool:
    return start <= end or (start == end + 1 and not _SPACE.match(text[end]))


def _pattern(stems: Collection[str]) -> re.Pattern[str] | None:
    """Return a pattern for words that may have one of the stems; a stem may end in another letter than its word."""
    begun = [re.escape(stem[:-1] if len(stem) > _SHORT_STEM and stem.isalpha() else stem) for stem in stems]
    return (
        re.compile(rf"(?<![^\W_])(?:{'|'.join(sorted(begun, key=len, reverse=True))})", re.IGNORECASE)
        if begun
        else None
    )


def _around(source: Source, at: int) -> Passage:
    start = max(0, at - _BEFORE)
    if start:  # if possible, not in the middle of a word
        space = _SPACE.search(source.text, start, at)
        start = space.end() if space else start
    end = min(len(source.text), start + SIZE)
    return Passage(
        part=source.part, text=source.text[start:end], begins=start == 0, ends=end == len(source.text)
    )
