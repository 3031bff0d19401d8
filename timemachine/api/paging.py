"""Lists in pages: a limit, and an opaque `after` that stands for the last item of the page before; never an offset."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any

from timemachine.base.errors import InvalidInput

DEFAULT, MOST = 50, 200


def checked_limit(limit: int) -> int:
    """The limit, if it lies between 1 and `MOST`."""
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"`limit` must lie between 1 and {MOST}.", code="invalid_field", field="limit")
    return limit


def page[Item](
    found: Sequence[Item], limit: int, place: Callable[[Item], list[Any]], show: Callable[[Item], Any]
) -> dict[str, Any]:
    """One page of a list of which one item more than the limit was fetched."""
    shown = found[:limit]
    more = len(found) > limit
    return {"items": [show(item) for item in shown], "next": written(place(shown[-1])) if more else None}


def written(place: list[Any]) -> str:
    """The place of an item as an opaque text."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def read(after: str, length: int) -> list[Any]:
    """The place that `written` wrote. Raises `InvalidInput` for any other text."""
    try:
        place = json.loads(base64.urlsafe_b64decode(after + "=" * (-len(after) % 4)))
    except (binascii.Error, ValueError) as why:
        raise _unreadable() from why
    if not isinstance(place, list) or len(place) != length:
        raise _unreadable()
    return place


def _unreadable() -> InvalidInput:
    return InvalidInput(
        "`after` is not one that this list gave; take it from `next` of the page before.",
        code="invalid_field",
        field="after",
    )
