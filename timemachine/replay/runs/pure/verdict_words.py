"""Verdicts as a person says them: what the model did instead of what was recorded."""

from collections.abc import Mapping
from typing import Final

from timemachine.core.pure.numbers import spaced

_INSTEAD: Final[Mapping[str, str]] = {
    "adds": "adds something",
    "omits": "leaves something out",
    "numbers_differ": "differs in numbers",
    "names_differ": "differs in names",
    "polarity_differs": "says the opposite",
    "changed": "answers differently",
    "contradicts": "contradicts the recorded answer",
    "other_arguments": "calls the tool with different arguments",
    "other_tool": "makes other calls",
    "answers_instead": "answers instead of calling a tool",
    "calls_instead": "calls a tool instead of answering",
    "refused": "refuses",
    "newly_answered": "answers what was refused before",
}


def instead(verdict: str) -> str:
    """Return what the model did: `other_tool` becomes `makes other calls`, which can be fewer or more of the same tools."""
    return _INSTEAD.get(verdict, spaced(verdict))
