"""Find many literal texts in a text, in linear time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

SHORTEST: Final = 16
"""The length of the shortest text that can be found, and of the prefix by which texts are looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wordings:
    """Texts to find, by their prefix, longest first. Matches are marked with `name`."""

    name: str
    by_begin: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, texts: Iterable[str], name: str) -> Self:
        """Index these texts, without those that are too short."""
        found: dict[str, list[str]] = {}
        for text in sorted({each for each in texts if len(each) >= SHORTEST}, key=lambda each: -len(each)):
            found.setdefault(text[:SHORTEST], []).append(text)
        return cls(name=name, by_begin={begin: tuple(each) for begin, each in found.items()})

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of matches from left to right, at each position the longest."""
        place = 0
        while place <= len(text) - SHORTEST:
            found = self.by_begin.get(text[place : place + SHORTEST], ())
            length = next((len(each) for each in found if text.startswith(each, place)), 0)
            if length:
                yield place, place + length
            place += length or 1
