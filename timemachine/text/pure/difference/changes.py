"""Changes in JSON as they are read: of a changed text the words that differ, with a little of what stands beside them. Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from timemachine.text.pure.difference.distinctions import Telling, telling
from timemachine.text.pure.difference.json import JsonChange, Op, json_diff
from timemachine.text.pure.difference.text import Span, text_diff

MOST: Final = 100
"""Changes that are read one by one; the others are counted."""
BESIDE: Final = 120
"""Characters of no difference that are kept on either side of a difference."""
LONGEST: Final = 2_000
_LONGEST_VALUE: Final = 600


class ChangeRow(NamedTuple):
    """One change: where, what became of it, and either side in spans, long stretches of no difference left out (…)."""

    path: str
    op: Op
    left: tuple[Span, ...]
    right: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """How two JSON values differ; no rows exactly when they do not. `more` counts the changes beyond the rows.

    `telling` are the numbers and names that only one of the two states anywhere in its values.
    """

    rows: Sequence[ChangeRow]
    more: int
    telling: Sequence[Telling]


def changes_of(left: Any, right: Any) -> Changes:
    """The differences of two JSON values, no deeper than `timemachine.core.pure.content.MAX_DEPTH`."""
    found = json_diff(left, right)
    if not found:
        return Changes(rows=(), more=0, telling=())
    return Changes(
        rows=[_row(change) for change in found[:MOST]],
        more=max(len(found) - MOST, 0),
        telling=telling(*("\n".join(_stated(value)) for value in (left, right))),
    )


def _stated(value: Any) -> Iterator[str]:
    """The texts and numbers in a value, without the keys they stand under."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _stated(inner)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(value)


def _row(change: JsonChange) -> ChangeRow:
    path, old, new = change.path or "/", change.old, change.new
    if change.op == "changed" and isinstance(old, str) and isinstance(new, str):
        rows = text_diff(old, new).rows
        left = _read([span for row in rows for span in row.left])
        return ChangeRow(path, change.op, left, _read([span for row in rows for span in row.right]))
    left = () if change.op == "added" else _whole(old)
    return ChangeRow(path, change.op, left, () if change.op == "removed" else _whole(new))


def _whole(value: Any) -> tuple[Span, ...]:
    text = json.dumps(value, ensure_ascii=False)
    return (Span(text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…", "same"),)


def _read(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The spans of one side of a text, up to the longest that is read."""
    room = LONGEST
    read: list[Span] = []
    for span in _without_stretches(spans):
        if len(span.text) > room:
            return (*read, Span(f"{span.text[:room]}…", span.mark))
        read.append(span)
        room -= len(span.text)
    return tuple(read)


def _without_stretches(spans: Sequence[Span]) -> Iterator[Span]:
    groups = [
        (mark, "".join(span.text for span in group)) for mark, group in groupby(spans, lambda span: span.mark)
    ]
    for place, (mark, text) in enumerate(groups):
        alone = len(groups) == 1
        before = 0 if place == 0 and not alone else BESIDE
        after = 0 if place == len(groups) - 1 else BESIDE
        hidden = len(text) - before - after
        folded = mark == "same" and hidden > BESIDE
        yield Span(f"{text[:before]}…{text[len(text) - after :]}" if folded else text, mark)
