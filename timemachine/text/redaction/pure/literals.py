"""Texts that are looked for word for word, however many they are: in time in proportion to what is looked through. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

SHORTEST: Final = 16
"""Characters of the shortest text that can be looked for, and of the begin by which all are found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wordings:
    """Texts to be looked for, by their first characters, the longest first; what is found is marked by the name."""

    name: str
    by_begin: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, texts: Iterable[str], name: str) -> Self:
        """These texts, without those that are too short to be looked for."""
        found: dict[str, list[str]] = {}
        for text in sorted({each for each in texts if len(each) >= SHORTEST}, key=lambda each: -len(each)):
            found.setdefault(text[:SHORTEST], []).append(text)
        return cls(name=name, by_begin={begin: tuple(each) for begin, each in found.items()})

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where one of them stands: from left to right, the longest of those that begin at a place."""
        place = 0
        while place <= len(text) - SHORTEST:
            found = self.by_begin.get(text[place : place + SHORTEST], ())
            length = next((len(each) for each in found if text.startswith(each, place)), 0)
            if length:
                yield place, place + length
            place += length or 1
