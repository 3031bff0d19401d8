"""The operator's own prices, from the file that MODEL_PRICES names. Each process reads it once."""

from functools import cache
from pathlib import Path

from django.conf import settings

from timemachine.core.pure.errors import InvalidInput, Unavailable
from timemachine.llm.pure.price_table import NO_PRICES, PriceTable, read_table


def price_overrides() -> PriceTable:
    """Return the operator's prices, an empty table without MODEL_PRICES.

    Raises:
        Unavailable: `prices_unreadable`: the file cannot be read.
    """
    return _read(settings.MODEL_PRICES) if settings.MODEL_PRICES else NO_PRICES


@cache
def _read(path: str) -> PriceTable:
    file = Path(path).expanduser()
    if not file.is_absolute():  # our processes have different working directories
        raise _unreadable(f"{file} is not an absolute path")
    try:
        return read_table(file.read_bytes(), str(file))
    except OSError as why:
        raise _unreadable(f"{file} cannot be read ({why.strerror})") from why
    except InvalidInput as why:
        raise _unreadable(why.message.removesuffix(".")) from why


def _unreadable(why: str) -> Unavailable:
    return Unavailable(
        f"{why}. MODEL_PRICES names this file. Fix it or remove the setting, then restart.",
        code="prices_unreadable",
    )
