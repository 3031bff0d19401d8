"""Changes between JSON values in readable form: for changed texts, the words that differ with some context."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

from timemachine.text.pure.difference.answers import Answers
from timemachine.text.pure.difference.json import JsonChange, Op, json_diff
from timemachine.text.pure.difference.text import Span, text_diff
from timemachine.text.pure.language.names import Name
from timemachine.text.pure.language.numbers import Number

MOST: Final = 100
"""The most changes that are listed; the others are counted."""
BESIDE: Final = 120
"""Characters of unchanged text on each side of a difference."""
LONGEST: Final = 2_000
_LONGEST_VALUE: Final = 600
_MOST_DISTINCTIONS: Final = 50


class ChangeRow(NamedTuple):
    """One change: its path, what happened, and both sides as spans. Long unchanged parts are shortened (…)."""

    path: str
    op: Op
    left: tuple[Span, ...]
    right: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinctions:
    """Numbers or names that only one of two texts has, each once, as written; at most 50 per side."""

    what: str
    left: Sequence[str]
    right: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """How two JSON values differ; there are no rows exactly if they are equal. `more` counts the changes beyond the
    rows.

    `distinctions` are the numbers and names that only one of the two contains in its values.
    """

    rows: Sequence[ChangeRow]
    more: int
    distinctions: Sequence[Distinctions]


def changes_of(left: Any, right: Any) -> Changes:
    """Return the differences of two JSON values, nested at most `timemachine.core.pure.content.MAX_DEPTH` levels."""
    found = json_diff(left, right)
    if not found:
        return Changes(rows=(), more=0, distinctions=())
    return Changes(
        rows=[_row(change) for change in found[:MOST]],
        more=max(len(found) - MOST, 0),
        distinctions=find_distinctions(*("\n".join(_stated(value)) for value in (left, right))),
    )


def _stated(value: Any) -> Iterator[str]:
    """Yield the texts and numbers in a value, without keys."""
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
    """Return the spans of one side of a text, up to the limit."""
    space = LONGEST
    read: list[Span] = []
    for span in _without_stretches(spans):
        if len(span.text) > space:
            return (*read, Span(f"{span.text[:space]}…", span.mark))
        read.append(span)
        space -= len(span.text)
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


def find_distinctions(left: str, right: str) -> tuple[Distinctions, ...]:
    """Return the numbers that differ, then the names, without uncertain names."""
    answers = Answers.of(left, right)
    numbers, names = answers.missing_numbers(), answers.missing_names
    found = [
        Distinctions(what="numbers", left=_once(numbers[0]), right=_once(numbers[1])),
        Distinctions(what="names", left=_certain(names[0]), right=_certain(names[1])),
    ]
    return tuple(each for each in found if each.left or each.right)


def _certain(names: Iterable[Name]) -> list[str]:
    return _once([name for name in names if name.certain])


def _once(found: Sequence[Number | Name]) -> list[str]:
    return list(dict.fromkeys(each.text for each in found))[:_MOST_DISTINCTIONS]
