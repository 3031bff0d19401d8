"""Whole numbers: as addresses and options write them, and added up where some were not recorded. Pure."""

from typing import Final

LONGEST: Final = 18


def whole_number(text: str) -> int | None:
    """The number that 1 to 18 ASCII digits write, which a bigint holds; None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST else None


def together(*counts: int | None) -> int | None:
    """The sum of those that were recorded; None where none was."""
    recorded = [count for count in counts if count is not None]
    return sum(recorded) if recorded else None
