"""The operator's own prices, from the file that MODEL_PRICES names: read once by each process, and checked at its start."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from timemachine.core.pure.errors import InvalidInput, Unavailable
from timemachine.llm.pure.price_table import NO_PRICES, PriceTable, read_table


def price_overrides() -> PriceTable:
    """The operator's prices; an empty table where MODEL_PRICES names no file. Raises `Unavailable` (`prices_unreadable`)."""
    return _read(settings.MODEL_PRICES) if settings.MODEL_PRICES else NO_PRICES


@cache
def _read(path: str) -> PriceTable:
    file = Path(path).expanduser()
    if not file.is_absolute():  # each of our programs runs in a folder of its own
        raise _unreadable(f"{file} is not a whole path, beginning with /")
    try:
        return read_table(file.read_bytes(), str(file))
    except OSError as why:
        raise _unreadable(f"{file} cannot be read ({why.strerror})") from why
    except InvalidInput as why:
        raise _unreadable(why.message.removesuffix(".")) from why


def _unreadable(why: str) -> Unavailable:
    return Unavailable(
        f"{why}. MODEL_PRICES names this file; mend it or take the setting away, then start again.",
        code="prices_unreadable",
    )


@register("environment")
def check_prices(app_configs: Sequence[Any] | None, **_: Any) -> list[CheckMessage]:  # noqa: ARG001  # Django's form
    """What is wrong with the operator's prices, as Django's own checks say it when a process starts."""
    try:
        price_overrides()
    except Unavailable as why:
        return [Error(why.message, id="timemachine.E001")]
    return []
