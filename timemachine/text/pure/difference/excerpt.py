"""A short part of an answer, with what differs from another one marked."""

from collections.abc import Sequence
from typing import Final

from timemachine.text.pure.difference.text import Span, text_diff

_LONGEST: Final = 160
_BEFORE: Final = 24
_IN_VIEW: Final = 72
"""A difference within this many characters is visible at the beginning of a text."""
_READ: Final = 4_000
"""The most characters of each answer that are compared for an excerpt."""


def excerpt(text: str | None, other: str | None) -> tuple[Span, ...]:
    """Return two lines of a text: its beginning, or what is around the first difference from the other text.

    A sentence that only the other text has is in it, marked as removed. Without another text nothing is marked. None for the
    text returns nothing.
    """
    if not text:
        return ()
    spans = [Span(text[:_READ], "same")] if other is None else _marked(other[:_READ], text[:_READ])
    start = _start(spans)
    shown = [Span("…", "same")] if start else []
    left = _LONGEST
    for span in spans:
        skipped = min(start, len(span.text))
        start -= skipped
        part = span.text[skipped : skipped + left]
        left -= len(part)
        if part:
            shown.append(Span(part, span.mark))
    cut = len(text) > _READ or not left
    return (*shown, Span("…", "same")) if cut else tuple(shown)


def _marked(other: str, text: str) -> Sequence[Span]:
    return [span for row in text_diff(other, text).rows for span in row.right or row.left]


def _start(spans: Sequence[Span]) -> int:
    """Return where the excerpt starts, so that the first difference is in it."""
    at = 0
    for span in spans:
        if span.mark != "same":
            before = "".join(each.text for each in spans)[: at - _BEFORE]
            return before.rfind(" ") + 1 if at > _IN_VIEW else 0
        at += len(span.text)
    return 0
