"""Rows and facts in aligned columns, for characters of any width. Pure."""

import unicodedata
from collections.abc import Iterator, Sequence

from timemachine.cli.formatting import one_line

_WIDE = ("W", "F")
_NO_WIDTH = ("Mn", "Me", "Cf")
_GAP = "  "


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = (), none: str = ""
) -> Iterator[str]:
    """The rows under their heads, or the line `none` instead if there are no rows; the columns named in `right` are right-aligned."""
    if none and not rows:
        yield none
        return
    clean = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(heads, *clean, strict=True)]
    for row in (heads, *clean):
        cells = [
            aligned(cell, size, to_right=head in right)
            for cell, size, head in zip(row, widths, heads, strict=True)
        ]
        yield _GAP.join(cells).rstrip()


def facts(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A name and a value on each line, without pairs that have no value."""
    shown = [(name, value) for name, value in pairs if value]
    longest = max((width(name) for name, _ in shown), default=0)
    for name, value in shown:
        yield f"{aligned(name, longest)}{_GAP}{one_line(value)}"


def width(text: str) -> int:
    """The number of terminal columns that the text takes."""
    return sum(_columns(letter) for letter in text)


def aligned(text: str, size: int, *, to_right: bool = False) -> str:
    """The text, padded to this many columns."""
    space = " " * (size - width(text))
    return space + text if to_right else text + space


def _columns(letter: str) -> int:
    if unicodedata.category(letter) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in _WIDE else 1
