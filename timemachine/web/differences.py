"""The differences of two recorded values: text row by row, JSON by its structure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.replay.alignment.details import structure, written
from timemachine.replay.alignment.long_diffs import LongRows, is_long
from timemachine.text.pure.difference.changes import Changes, Distinctions, changes_of, find_distinctions
from timemachine.text.pure.difference.text import DiffRow, Folded, Span, fold, text_diff

SHOWN_ROWS: Final = 150


ELEMENTS: Final = {"removed": "del", "added": "ins"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSpan:
    """A text with the element that marks it."""

    element: str
    mark: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """A row of the diff, or in `folded` the number of unchanged rows that it stands for."""

    kind: str = "same"
    left: tuple[ShownSpan, ...] = ()
    right: tuple[ShownSpan, ...] = ()
    folded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """One change in JSON: its path, its kind, and both sides, with changed text word by word."""

    path: str
    op: str
    left: tuple[ShownSpan, ...]
    right: tuple[ShownSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """How two values differ: `same`, `same_values` (JSON formatted differently), `absent` (missing on one side), `text` with rows,
    `json` with changes, or `long`.

    `telling` are the numbers and names of only one side; `more` is the number of rows or changes not shown, `start` the first visible
    row. A `long` one has no rows while a worker computes it, or if it was `given_up`.
    """

    how: str
    rows: Sequence[ShownRow] = ()
    changes: Sequence[ShownChange] = ()
    telling: Sequence[Distinctions] = ()
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
    return _in_text(written(left) or "", written(right) or "", everything=everything, start=start)


def made(found: LongRows, start: int) -> Differing:
    """Return a long diff in its current state."""
    if found.changes is not None:
        return _in_json(found.changes)
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
        telling=find_distinctions(left, right),
        more=max(len(rows) - start - SHOWN_ROWS, 0),
        start=start,
    )


def _in_json(found: Changes) -> Differing:
    if not found.rows:
        return Differing(how="same_values")
    return Differing(
        how="json",
        changes=[
            ShownChange(path=row.path, op=row.op, left=shown_spans(row.left), right=shown_spans(row.right))
            for row in found.rows
        ],
        telling=found.telling,
        more=found.more,
    )


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_rows(old: str, new: str, *, everything: bool) -> Iterator[ShownRow]:
    """Return the rows of two texts side by side; with `everything` nothing is collapsed."""
    rows = text_diff(old, new).rows
    return shown_rows(rows if everything else fold(rows))


def shown_rows(rows: Sequence[DiffRow | Folded]) -> Iterator[ShownRow]:
    """Return rows for display."""
    for row in rows:
        if isinstance(row, Folded):
            yield ShownRow(folded=row.count)
        else:
            yield ShownRow(kind=row.kind, left=shown_spans(row.left), right=shown_spans(row.right))


def shown_spans(spans: Sequence[Span]) -> tuple[ShownSpan, ...]:
    """Return the spans of one side of a row, without the line break at its start."""
    texts = [span.text for span in spans]
    if texts:
        texts[0] = texts[0].removeprefix("\n")
    return tuple(
        ShownSpan(element=ELEMENTS.get(span.mark, "span"), mark=span.mark, text=text)
        for span, text in zip(spans, texts, strict=True)
    )
