"""US dollars as people read them: an unknown price is never $0. Pure."""

from decimal import Decimal

from timemachine.cli.wording import UNKNOWN, plural


def money(dollars: float | None) -> str:
    """$4.10, $0.0005, $0; "unknown" for None. Below a dollar, two digits that say something."""
    if dollars is None:
        return UNKNOWN
    exact = Decimal(str(dollars))
    if exact == 0:
        return "$0"
    places = 2 if abs(exact) >= 1 else 1 - exact.adjusted()
    whole, _, cents = f"{exact:.{max(2, places)}f}".partition(".")
    return f"${whole}.{cents.rstrip('0').ljust(2, '0')}"


def total(dollars: float | None, unknown_calls: int) -> str:
    """A sum beside the calls whose price nobody knows: `$4.10 + 3 calls of unknown price`."""
    if not unknown_calls:
        return money(dollars)
    calls = f"{plural(unknown_calls, 'call')} of unknown price"
    return f"{money(dollars)} + {calls}" if dollars else calls
