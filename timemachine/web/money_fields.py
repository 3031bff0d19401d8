"""Parse amounts of money entered in a field."""

from math import isfinite

from timemachine.core.pure.errors import InvalidInput


def usd_as_written(text: str, field: str) -> float | None:
    """Return US dollars, None for an empty text; a leading dollar sign is allowed. Raises `InvalidInput`, which names the field."""
    written = text.strip().removeprefix("$").strip()
    if not written:
        return None
    try:
        amount = float(written)
    except ValueError:
        amount = float("nan")
    if not isfinite(amount) or amount < 0:
        raise InvalidInput(
            f"{text[:40]!r} is not an amount in US dollars. Enter a number, for example 0.25.",
            code="invalid_field",
            field=field,
        )
    return amount
