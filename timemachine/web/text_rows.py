"""A text diff for display: rows of marked spans, with long unchanged parts collapsed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.text.pure.difference.text import DiffRow, Folded, Span, fold, text_diff

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
