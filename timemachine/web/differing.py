"""Two recorded values as a page shows how they differ: texts row by row, JSON by its structure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.difference.json import JsonChange, json_diff
from timemachine.difference.telling import Telling, telling
from timemachine.difference.text import text_diff
from timemachine.web.text_rows import ShownRow, ShownSpan, shown_spans, text_rows

SHOWN_CHANGES: Final = 100
SHOWN_ROWS: Final = 150
SHOWN_LETTERS: Final = 600
# Letters of two texts together up to which their sentences are read for numbers and names: some 100 ms.
READ: Final = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """One change in JSON: where, what became of it, and either side, a changed text word by word."""

    path: str
    op: str
    left: tuple[ShownSpan, ...]
    right: tuple[ShownSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """How two values differ: `same`, `absent` (one side has none), `text` with rows or `json` with changes.

    `telling` are the numbers and names of only one side; `more` is how many rows or changes are not shown.
    """

    how: str
    rows: Sequence[ShownRow] = ()
    changes: Sequence[ShownChange] = ()
    telling: Sequence[Telling] = ()
    more: int = 0
    left: str | None = None
    right: str | None = None


def differing(left: Any, right: Any, *, everything: bool = False) -> Differing:
    """How two recorded values differ. JSON that was recorded as a text is compared as JSON."""
    if left is None and right is None:
        return Differing(how="absent")
    if left is None or right is None:
        return Differing(how="absent", left=_written(left), right=_written(right))
    if left == right and type(left) is type(right):
        return Differing(how="same", left=_written(left))
    one, other = _structure(left), _structure(right)
    if one is not None and other is not None:
        return _in_json(one, other)
    return _in_text(_written(left) or "", _written(right) or "", everything=everything)


def _in_text(left: str, right: str, *, everything: bool) -> Differing:
    rows = list(text_rows(left, right, everything=everything))
    known = telling(left, right) if len(left) + len(right) <= READ else ()
    return Differing(how="text", rows=rows[:SHOWN_ROWS], telling=known, more=max(len(rows) - SHOWN_ROWS, 0))


def _in_json(left: Any, right: Any) -> Differing:
    changes = json_diff(left, right)
    if not changes:
        return Differing(how="same", left=_written(left))
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


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)
