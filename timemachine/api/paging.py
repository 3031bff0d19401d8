"""Lists in pages: a limit, and an opaque `after` that stands for the last item of the page before; never an offset."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from timemachine.base.clock import parse_time
from timemachine.base.content import parse_json
from timemachine.base.errors import InvalidInput
from timemachine.base.faithful import is_plain

DEFAULT, MOST = 50, 200
_LARGEST = 2**63 - 1


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


def read[Part](after: str, kind: Callable[[Any], Part]) -> Part:
    """The place of one part that `written` wrote: a `number`, a `name` or a `moment`. Raises `InvalidInput` for any other text."""
    try:
        match parse_json(base64.urlsafe_b64decode(after + "=" * (-len(after) % 4))):
            case [part]:
                return kind(part)
    except (binascii.Error, ValueError, InvalidInput) as why:
        raise _unreadable() from why
    raise _unreadable()


def number(part: Any) -> int:
    """A whole number that a bigint holds. Raises `ValueError`."""
    if type(part) is not int or not 0 <= part <= _LARGEST:
        raise ValueError
    return part


def name(part: Any) -> str:
    """A text that a name can be. Raises `ValueError`."""
    if not isinstance(part, str) or not is_plain(part):
        raise ValueError
    return part


def moment(part: Any) -> datetime:
    """A time as `base.clock.written` writes it. Raises `ValueError`, `InvalidInput`."""
    return parse_time(name(part))


def _unreadable() -> InvalidInput:
    return InvalidInput(
        "`after` is not one that this list gave; take it from `next` of the page before.",
        code="invalid_field",
        field="after",
    )
