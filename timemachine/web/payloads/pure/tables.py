"""Tables: lists of flat objects, and CSV."""

import csv
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from timemachine.web.payloads.pure.pieces import Table

MOST_ROWS: Final = 40
MOST_COLUMNS: Final = 10
LONGEST_CELL: Final = 160
_FEWEST_LINES: Final = 3
_NOT_IN_HEADS: Final = frozenset("(){}<>=;\"'`")
_LONGEST_HEAD: Final = 40


def of_objects(value: Sequence[Any]) -> Table | None:
    """Return a list of two or more flat objects as a table, None for any other list."""
    if len(value) < 2 or not all(isinstance(each, Mapping) and each for each in value):  # noqa: PLR2004
        return None
    columns = list(dict.fromkeys(name for each in value for name in each))
    cells = sum(len(each) for each in value)
    if len(columns) > MOST_COLUMNS or cells * 2 < len(columns) * len(value):
        return None
    if not all(_is_flat(inner) for each in value for inner in each.values()):
        return None
    rows = [[_cell(each[name]) if name in each else None for name in columns] for each in value[:MOST_ROWS]]
    return Table(columns=columns, rows=rows, more=max(len(value) - MOST_ROWS, 0))


def of_csv(text: str) -> Table | None:
    """Return CSV with a head as a table, None for any other text. Every row must have as many cells as the head."""
    first = text.partition("\n")[0]
    if "," not in first or _NOT_IN_HEADS.intersection(first):
        return None
    try:
        rows = list(csv.reader(text.strip("\n").split("\n"), strict=True))
    except csv.Error:
        return None
    head = rows[0]
    if len(rows) < _FEWEST_LINES or len(head) > MOST_COLUMNS or any(len(row) != len(head) for row in rows):
        return None
    if any(not name or name != name.strip() or len(name) > _LONGEST_HEAD for name in head):
        return None
    if len(set(head)) < len(head) or any(len(cell) > LONGEST_CELL for row in rows for cell in row):
        return None
    return Table(columns=head, rows=rows[1 : MOST_ROWS + 1], more=max(len(rows) - 1 - MOST_ROWS, 0))


def _is_flat(value: Any) -> bool:
    return value is None or isinstance(value, bool) or (isinstance(value, str) and _is_short(value))


def _is_short(text: str) -> bool:
    return len(text) <= LONGEST_CELL and "\n" not in text and "\x1b" not in text


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
