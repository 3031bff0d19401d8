"""Amounts of money as people write them into a field."""

from math import isfinite

from timemachine.core.pure.errors import InvalidInput


def usd_as_written(text: str, field: str) -> float | None:
    """US dollars, None of an empty text; a dollar sign before them is allowed. Raises `InvalidInput`, which names the field."""
    written = text.strip().removeprefix("$").strip()
    if not written:
        return None
    try:
        amount = float(written)
    except ValueError:
        amount = float("nan")
    if not isfinite(amount) or amount < 0:
        raise InvalidInput(
            f"{text[:40]!r} is no amount in US dollars; write it as 0.25.", code="invalid_field", field=field
        )
    return amount
