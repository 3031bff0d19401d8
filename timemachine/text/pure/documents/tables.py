"""Markdown tables as words: cells separated by " | ", as for HTML."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from timemachine.text.pure.documents.document import Block

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_RULE: Final = "|:- \t"


def tables_as_words(text: str, tables: Sequence[Block], start: int, end: int) -> str:
    """Return the text from `start` to before `end` with the rows of its tables (in order) without markup.

    Rows of dashes and of empty cells are left out, and surrounding white space with them.
    """
    parts: list[str] = []
    at = start
    reached = bisect_right(tables, start, key=lambda table: table.end)
    beyond = bisect_left(tables, end, key=lambda table: table.start)
    for table in tables[reached:beyond]:
        first, after = max(table.start, start), min(table.end, end)
        parts += text[at:first], "\n".join(_rows(text[first:after]))
        at = after
    return "".join([*parts, text[at:end]]).strip() if parts else text[start:end]


def _rows(table: str) -> Iterator[str]:
    for line in _LINE_END.split(table):
        cells = _cells(line) if line.strip(_RULE) else []
        if any(cells):
            yield " | ".join(cells).strip()


def _cells(line: str) -> list[str]:
    """Return the cells of a row. A bar after a backslash is part of a cell."""
    bare = line.strip().removeprefix("|")
    cells = [each.strip().replace("\\|", "|") for each in _CELL_END.split(bare)]
    return cells if cells[-1] else cells[:-1]
