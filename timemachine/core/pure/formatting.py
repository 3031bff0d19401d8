"""Numbers as people read them, in English: counts with their noun, money with its sign. Pure."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

UNKNOWN: Final = "unknown"
NOT_RECORDED: Final = "not recorded"
_SMALLEST_IN_CENTS = Decimal("0.1")


def counted(number: int, noun: str) -> str:
    """`1 call`, `1,234 calls`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def times(number: int, name: str) -> str:
    """How often something was found: `2 reworded`, and `numbers differ in 2`."""
    words = spaced(name)
    return f"{words} in {number:,}" if words.endswith((" differ", " differs")) else f"{number:,} {words}"


def money(amount: Decimal | float) -> str:
    """US dollars: `$4.10`, `$0.021` (three digits that count below ten cents), `$0`."""
    dollars = Decimal(str(amount))
    if dollars == 0:
        return "$0"
    if abs(dollars) >= _SMALLEST_IN_CENTS:
        return f"${dollars:,.2f}"
    whole, _, cents = f"{dollars:.{2 - dollars.adjusted()}f}".partition(".")
    return f"${whole}.{cents.rstrip('0').ljust(2, '0')}"


def money_or_unknown(dollars: Decimal | float | None) -> str:
    """US dollars: `$4.10`; "unknown" for None, which is never nothing."""
    return UNKNOWN if dollars is None else money(dollars)


def priced(dollars: Decimal | float | None, unknown: int) -> str:
    """A sum beside the calls whose price it does not know: `$4.10`, `$0 + 3 calls of unknown price`.

    Of None, where nothing was priced: `3 calls of unknown price`, or "not recorded".
    """
    known = [] if dollars is None else [money(dollars)]
    calls = [f"{counted(unknown, 'call')} of unknown price"] if unknown else []
    return " + ".join(known + calls) or NOT_RECORDED


def saved(dollars: Decimal | float | None, unknown: int) -> str:
    """What answers from a cache saved: a sum as `priced` writes it; "an unknown cost" for None."""
    return "an unknown cost" if dollars is None else priced(dollars, unknown)


def reached(done: int, total: str, rest: Mapping[str, int]) -> str:
    """How many of all are done, and what became of others: `58 of 72 answered, 14 not asked`."""
    others = [f"{number:,} {what}" for what, number in rest.items() if number]
    return ", ".join([f"{done:,} of {total}", *others])


def spaced(name: str) -> str:
    """An enumerated value as words: `numbers_differ` reads `numbers differ`."""
    return name.replace("_", " ")
