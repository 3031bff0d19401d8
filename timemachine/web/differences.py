"""The differences of two recorded values: text row by row, JSON by its structure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.replay.alignment.details import structure, written
from timemachine.replay.alignment.long_diffs import LongRows, Row, is_long
from timemachine.text.pure.difference.changes import (
    ChangeRow,
    Changes,
    Distinctions,
    changes_of,
    find_distinctions,
)
from timemachine.text.pure.difference.text import fold, text_diff

SHOWN_ROWS: Final = 150
ELEMENTS: Final = {"removed": "del", "added": "ins"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """How two values differ: `same`, `same_values` (JSON formatted differently), `absent` (missing on one side), `text` with rows,
    `json` with changes, or `long`.

    `distinctions` are the numbers and names of only one side; `more` is the number of rows or changes not shown, `start` the first visible
    row. A `long` one has no rows while a worker computes it, or if it was `given_up`.
    """

    how: str
    rows: Sequence[Row] = ()
    changes: Sequence[ChangeRow] = ()
    distinctions: Sequence[Distinctions] = ()
    more: int = 0
    left: str | None = None
    right: str | None = None
    start: int = 0
    given_up: bool = False

    @property
    def waits(self) -> bool:
        """Return whether a worker still has to compute it."""
        return self.how == "long" and not self.rows and not self.given_up

    @property
    def earlier(self) -> int | None:
        """Return the first row of the previous page, None at the beginning."""
        return max(self.start - SHOWN_ROWS, 0) if self.start else None

    @property
    def later(self) -> int | None:
        """Return the first row of the next page, None at the end."""
        return self.start + SHOWN_ROWS if self.how != "json" and self.more else None


def differing(left: Any, right: Any, *, everything: bool = False, start: int = 0) -> Differing | None:
    """Return how two recorded values differ, None if a worker has to compute it. JSON recorded as text is compared as JSON."""
    if left is None or right is None:
        return Differing(how="absent", left=written(left), right=written(right))
    texts = _compact(left), _compact(right)
    if texts[0] == texts[1]:
        alike = isinstance(left, str) == isinstance(right, str)
        return Differing(how="same" if alike else "same_values", left=written(left))
    if is_long(*texts):
        return None
    one, other = structure(left), structure(right)
    if one is not None and other is not None:
        return _in_json(changes_of(one, other))
    old, new = written(left) or "", written(right) or ""
    rows = text_rows(old, new, everything=everything)
    return _in_rows("text", rows, start, find_distinctions(old, new))


def made(found: LongRows, start: int) -> Differing:
    """Return a long diff in its current state."""
    if found.changes is not None:
        return _in_json(found.changes)
    return replace(_in_rows("long", found.rows or (), start, found.distinctions), given_up=found.given_up)


def _in_rows(how: str, rows: Sequence[Row], start: int, distinctions: Sequence[Distinctions]) -> Differing:
    start = start if start < len(rows) else 0
    return Differing(
        how=how,
        rows=rows[start : start + SHOWN_ROWS],
        distinctions=distinctions,
        more=max(len(rows) - start - SHOWN_ROWS, 0),
        start=start,
    )


def _in_json(found: Changes) -> Differing:
    if not found.rows:
        return Differing(how="same_values")
    return Differing(how="json", changes=found.rows, distinctions=found.distinctions, more=found.more)


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_rows(old: str, new: str, *, everything: bool) -> Sequence[Row]:
    """Return the rows of two texts side by side; with `everything` nothing is collapsed."""
    rows = text_diff(old, new).rows
    return rows if everything else fold(rows)
