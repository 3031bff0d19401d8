"""Numbers: parsed, added up if some are unknown, and formatted in English with their nouns and units."""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

UNKNOWN: Final = "unknown"
NOT_RECORDED: Final = "not recorded"
_SMALLEST_IN_CENTS = Decimal("0.1")
_ANY_SIZE = Context(prec=400)
LONGEST: Final = 18


def whole_number(text: str) -> int | None:
    """Parse an integer of 1 to 18 ASCII digits, which fits into a bigint. Return None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST else None


def sum_known[N: (int, Decimal)](*amounts: N | None) -> N | None:
    """Return the sum of the amounts that are not None, or None if all are."""
    recorded = [amount for amount in amounts if amount is not None]
    return sum(recorded[1:], recorded[0]) if recorded else None


def dollars(amount: Decimal | None) -> float | None:
    """Return US dollars as a JSON number. None stays None."""
    return None if amount is None else float(amount)


def counted(number: int, noun: str) -> str:
    """Format a count with its noun: `1 call`, `1,234 calls`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def branch_point(sequence: int | None) -> str:
    """Format after which step a session branched: `step 1,234`, `the beginning` (0), or `the end` (None)."""
    if sequence is None:
        return "the end"
    return f"step {sequence:,}" if sequence else "the beginning"


def money(dollars: Decimal | float) -> str:
    """Format US dollars: `$4.10`; `$0.021` (three significant digits below ten cents); `$0`; `-$4.10`. Halves are rounded
    away from zero."""
    amount = Decimal(str(dollars))
    if amount == 0:
        return "$0"
    if amount < 0:
        return f"-{money(-amount)}"
    if amount >= _SMALLEST_IN_CENTS:
        return f"${_rounded(amount, 2):,.2f}"
    digits = 2 - amount.adjusted()
    whole, _, cents = f"{_rounded(amount, digits):.{digits}f}".partition(".")
    return f"${whole}.{cents.rstrip('0').ljust(2, '0')}"


def exact_money(dollars: Decimal | float) -> str:
    """Format US dollars with all digits, at least two after the point: `$0.125`, `$10.00`."""
    whole, _, cents = f"{Decimal(str(dollars)):f}".partition(".")
    return f"${whole}.{cents.rstrip('0').ljust(2, '0')}"


def _rounded(amount: Decimal, digits: int) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _ANY_SIZE)


def money_or_unknown(amount: Decimal | float | None) -> str:
    """Format US dollars; None is "unknown"."""
    return UNKNOWN if amount is None else money(amount)


def total_cost(amount: Decimal | float | None, unknown: int) -> str:
    """Format a total with the number of calls it leaves out: `$4.10`, `$0.02 + 3 calls of unknown price`.

    Without a total, or if all that is known is free: `3 calls of unknown price`; "not recorded" without either.
    """
    known = [] if amount is None or (unknown and not amount) else [money(amount)]
    calls = [f"{counted(unknown, 'call')} of unknown price"] if unknown else []
    return " + ".join(known + calls) or NOT_RECORDED


def saved(amount: Decimal | float | None, unknown: int) -> str:
    """Format what cached answers saved: as `total_cost`, or "an unknown cost" for None."""
    return "an unknown cost" if amount is None else total_cost(amount, unknown)


def progress(done: int, total: str, rest: Mapping[str, int]) -> str:
    """Format progress: `58 of 72 answered, 14 not asked`."""
    others = [f"{number:,} {what}" for what, number in rest.items() if number]
    return ", ".join([f"{done:,} of {total}", *others])


def spaced(name: str) -> str:
    """Return an enumerated value as words: `numbers_differ` becomes `numbers differ`."""
    return name.replace("_", " ")
