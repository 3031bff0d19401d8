"""Regular expressions in linear time, whatever the pattern: RE2.

With Python's own engine, one custom pattern or one recorded text could block a process for hours.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

import re2

OUR_MEMORY: Final = 32 << 20
"""Bytes for one of our own expressions. With less, RE2 reads long texts a hundred times slower."""
THEIR_MEMORY: Final = 4 << 20
ESCAPE_BEFORE: Final = re.compile(r"(?:\\[bfnrt]|%[0-9A-Fa-f]{2})\Z")
"""What ends in a letter or digit but is neither: a line break in JSON recorded as text, a percent-encoded character."""
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")

Refused = re2.error
"""Raised by `custom` for a pattern that RE2 cannot parse, or that takes too much memory."""


@cache
def compiled(pattern: str) -> Any:
    """Compile one of our own expressions."""
    return _compiled(pattern, OUR_MEMORY, ignore_case=False)


@lru_cache(maxsize=512)
def custom(pattern: str, *, ignore_case: bool) -> Any:
    """Compile a project's own pattern.

    Raises:
        Refused: RE2 cannot parse it, or it takes too much memory.
    """
    return _compiled(pattern, THEIR_MEMORY, ignore_case=ignore_case)


def _compiled(pattern: str, memory: int, *, ignore_case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    options.case_sensitive = not ignore_case
    return re2.compile(pattern, options)


def readable(text: str) -> str:
    """Return the text with U+FFFD for lone surrogates, which RE2 cannot read. All positions stay the same."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def spans(expression: Any, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the matches: of the first group if it matched, otherwise of the match. Skips empty ones."""
    for match in expression.finditer(text):
        start, end = match.span(1) if expression.groups and match.group(1) else match.span()
        if end > start:
            yield start, end


def matches_empty(expression: Any) -> bool:
    """Return whether the expression can match the empty string. Such matches hide others at the same position."""
    return any(match.end() == match.start() for text in _PROBES for match in expression.finditer(text))


_PROBES: Final = ("", "a", " a-1.\n\nb ")
