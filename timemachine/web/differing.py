"""Two recorded values as a page shows how they differ: texts row by row, JSON by its structure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.alignment.details import written
from timemachine.alignment.long_diffs import LongRows, is_long
from timemachine.difference.json import JsonChange, json_diff
from timemachine.difference.telling import Telling, telling
from timemachine.difference.text import text_diff
from timemachine.web.text_rows import ShownRow, ShownSpan, shown_rows, shown_spans, text_rows

SHOWN_CHANGES: Final = 100
SHOWN_ROWS: Final = 150
SHOWN_LETTERS: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """One change in JSON: where, what became of it, and either side, a changed text word by word."""

    path: str
    op: str
    left: tuple[ShownSpan, ...]
    right: tuple[ShownSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """How two values differ: `same`, `absent` (one side has none), `text` with rows, `json` with changes, or `long`.

    `telling` are the numbers and names of only one side; `more` is how many rows or changes are not shown, `start` which row is the
    first that is. A `long` one has no rows as long as a worker is at it, or where it was `given_up`.
    """

    how: str
    rows: Sequence[ShownRow] = ()
    changes: Sequence[ShownChange] = ()
    telling: Sequence[Telling] = ()
    more: int = 0
    left: str | None = None
    right: str | None = None
    start: int = 0
    given_up: bool = False

    @property
    def waits(self) -> bool:
        """Whether a worker is still to make it."""
        return self.how == "long" and not self.rows and not self.given_up

    @property
    def earlier(self) -> int | None:
        """The row to go back to, None at the beginning."""
        return max(self.start - SHOWN_ROWS, 0) if self.start else None

    @property
    def later(self) -> int | None:
        """The row to go on from, None at the end."""
        return self.start + SHOWN_ROWS if self.how != "json" and self.more else None


def differing(left: Any, right: Any, *, everything: bool = False, start: int = 0) -> Differing | None:
    """How two recorded values differ, None where finding out takes a worker. JSON that was recorded as a text is compared as JSON."""
    if left is None and right is None:
        return Differing(how="absent")
    if left is None or right is None:
        return Differing(how="absent", left=written(left), right=written(right))
    if left == right and type(left) is type(right):
        return Differing(how="same", left=written(left))
    one, other = _structure(left), _structure(right)
    if one is not None and other is not None:
        return _in_json(one, other)
    texts = written(left) or "", written(right) or ""
    return None if is_long(*texts) else _in_text(*texts, everything=everything, start=start)


def made(found: LongRows, start: int) -> Differing:
    """A long diff, as far as it is."""
    rows = list(shown_rows(found.rows or ()))
    start = start if start < len(rows) else 0
    return Differing(
        how="long",
        rows=rows[start : start + SHOWN_ROWS],
        telling=found.telling,
        more=max(len(rows) - start - SHOWN_ROWS, 0),
        start=start,
        given_up=found.given_up,
    )


def _in_text(left: str, right: str, *, everything: bool, start: int) -> Differing:
    rows = list(text_rows(left, right, everything=everything))
    start = start if start < len(rows) else 0
    return Differing(
        how="text",
        rows=rows[start : start + SHOWN_ROWS],
        telling=telling(left, right),
        more=max(len(rows) - start - SHOWN_ROWS, 0),
        start=start,
    )


def _in_json(left: Any, right: Any) -> Differing:
    changes = json_diff(left, right)
    if not changes:
        return Differing(how="same", left=written(left))
    return Differing(
        how="json",
        changes=[_change(change) for change in changes[:SHOWN_CHANGES]],
        more=max(len(changes) - SHOWN_CHANGES, 0),
    )


def _change(change: JsonChange) -> ShownChange:
    old, new = change.old, change.new
    if change.op == "changed" and isinstance(old, str) and isinstance(new, str):
        rows = text_diff(old[:SHOWN_LETTERS], new[:SHOWN_LETTERS]).rows
        left = shown_spans([span for row in rows for span in row.left])
        right = shown_spans([span for row in rows for span in row.right])
        return ShownChange(path=change.path or "/", op=change.op, left=left, right=right)
    return ShownChange(
        path=change.path or "/",
        op=change.op,
        left=() if change.op == "added" else _plain(old),
        right=() if change.op == "removed" else _plain(new),
    )


def _plain(value: Any) -> tuple[ShownSpan, ...]:
    text = json.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= SHOWN_LETTERS else text[:SHOWN_LETTERS] + "…"
    return (ShownSpan(element="span", mark="same", text=cut),)


def _structure(value: Any) -> Any:
    """The object or list that a value is, or that a text holds; None for any other."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict | list) else None
