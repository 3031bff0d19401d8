"""How the places read in which something is withheld or erased: the stretch of text around each first mark. Pure."""

from collections.abc import Iterator
from typing import Any, Final

from timemachine.text.redaction.pure.paths import path_part

BEFORE: Final = 80
LONGEST: Final = 240
_MARK_ALONE: Final = frozenset({"withheld"})
"""The only key of an object that stands for a whole value of that form."""


def around(value: Any, opening: str, place: str) -> Iterator[tuple[str, str]]:
    """The stretches of a redacted JSON value around the first mark of each of its texts; marks begin with `opening`.

    Each comes with its place: that of the value, and behind it what leads to the text, as the path of a rule has it.
    """
    if isinstance(value, str):
        at = value.find(opening)
        if at >= 0:
            begin = max(at - BEFORE, 0)
            end = begin + LONGEST
            yield place, ("…" if begin else "") + value[begin:end] + ("…" if len(value) > end else "")
    elif isinstance(value, list | tuple):
        for nth, each in enumerate(value):
            yield from around(each, opening, f"{place}[{nth}]")
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from around(name, opening, place)
            yield from around(
                each, opening, place if value.keys() == _MARK_ALONE else f"{place}{path_part(name)}"
            )
