"""Attributes of spans that this product exports, for what no convention has a name for. Pure."""

from decimal import Decimal
from typing import Final

from timemachine.recording.otel.pure.attributes import Attributes

CACHED: Final = "timemachine.cached"
SAVED: Final = "timemachine.saved_usd"
NOT_RECORDED: Final = "timemachine.not_recorded"
"""Which of `started_at` and `duration_ms` the action did not have: a span has both."""
_DIGITS: Final = 12
_MOST: Final = 1e9


def was_recorded(attributes: Attributes, name: str) -> bool:
    """Whether a time of the span is one that was recorded."""
    return name not in (attributes.text(NOT_RECORDED) or "").split(",")


def cached_of(attributes: Attributes) -> bool | None:
    """Whether the answer came from the cache; None where nothing says so."""
    found = attributes.first(CACHED)
    return found if isinstance(found, bool) else None


def saved_of(attributes: Attributes) -> Decimal | None:
    """What the cache saved, in US dollars; None where that is not said."""
    found = attributes.first_number(SAVED)
    return None if found is None or not 0 <= found < _MOST else round(Decimal(repr(found)), _DIGITS)
