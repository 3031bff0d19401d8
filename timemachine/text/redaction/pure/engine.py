"""Regular expressions that take time in proportion to the text, whatever the pattern: RE2. Pure.

Python's own engine would let one custom pattern, or one recorded text, hold a process for hours.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import re2

OUR_MEMORY: Final = 32 << 20
"""Bytes that one of our own expressions may take; with less RE2 reads long texts a hundred times slower."""
THEIR_MEMORY: Final = 4 << 20
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")

Refused = re2.error
"""What `custom` raises for a pattern that RE2 cannot read, or that takes too much memory."""


@lru_cache(maxsize=128)
def compiled(pattern: str) -> Any:
    """One of our own expressions as RE2 reads it."""
    return _compiled(pattern, OUR_MEMORY, ignore_case=False)


@lru_cache(maxsize=512)
def custom(pattern: str, *, ignore_case: bool) -> Any:
    """A project's own pattern as RE2 reads it. Raises `Refused`."""
    return _compiled(pattern, THEIR_MEMORY, ignore_case=ignore_case)


def _compiled(pattern: str, memory: int, *, ignore_case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    options.case_sensitive = not ignore_case
    return re2.compile(pattern, options)


def readable(text: str) -> str:
    """The text with U+FFFD for half characters, which RE2 cannot read; every other character keeps its place."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def spans(expression: Any, text: str) -> Iterator[tuple[int, int]]:
    """Where the expression matches: its first group where it has one that takes part, else the whole. Empty matches are none."""
    for match in expression.finditer(text):
        start, end = match.span(1) if expression.groups and match.group(1) else match.span()
        if end > start:
            yield start, end


def matches_nothing(expression: Any) -> bool:
    """Whether the expression also matches where nothing stands: such a match hides others that begin there."""
    return any(match.end() == match.start() for text in _PROBES for match in expression.finditer(text))


_PROBES: Final = ("", "a", " a-1.\n\nb ")
