"""Numbers: whole ones as addresses and options write them, and any added up where some were not recorded. Pure."""

from decimal import Decimal
from typing import Final

LONGEST: Final = 18


def whole_number(text: str) -> int | None:
    """The number that 1 to 18 ASCII digits write, which a bigint holds; None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST else None


def together[N: (int, Decimal)](*amounts: N | None) -> N | None:
    """The sum of those that were recorded; None where none was."""
    recorded = [amount for amount in amounts if amount is not None]
    return sum(recorded[1:], recorded[0]) if recorded else None


def dollars(amount: Decimal | None) -> float | None:
    """US dollars as a JSON number; None where nothing was priced."""
    return None if amount is None else float(amount)
