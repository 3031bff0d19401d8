"""Excerpts of redacted values: the text around each first mark."""

from collections.abc import Iterator
from typing import Any, Final

from timemachine.text.redaction.pure.paths import path_part

BEFORE: Final = 80
LONGEST: Final = 240
_MARK_ALONE: Final = frozenset({"withheld"})
"""The keys of an object that replaces a withheld object."""


def excerpts(value: Any, opening: str, place: str) -> Iterator[tuple[str, str]]:
    """Yield an excerpt around the first mark in each text of a redacted JSON value. Marks begin with `opening`.

    Each comes with its path: `place`, followed by the path to the text as rules write it.
    """
    if isinstance(value, str):
        at = value.find(opening)
        if at >= 0:
            begin = max(at - BEFORE, 0)
            end = begin + LONGEST
            yield place, ("…" if begin else "") + value[begin:end] + ("…" if len(value) > end else "")
    elif isinstance(value, list | tuple):
        for nth, each in enumerate(value):
            yield from excerpts(each, opening, f"{place}[{nth}]")
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from excerpts(name, opening, place)
            yield from excerpts(
                each, opening, place if value.keys() == _MARK_ALONE else f"{place}{path_part(name)}"
            )
