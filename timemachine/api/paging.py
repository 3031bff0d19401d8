"""Pages of lists: a limit, and an opaque `after` that names the last item of the previous page; never an offset."""

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, Protocol
from uuid import UUID

from django.db.models import Expression, Model, QuerySet

from timemachine.core.pure.content import parse_json, sha256_hex
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.postgres_text import is_plain

DEFAULT, MOST = 50, 200
PAGE_BYTES = 16 * 1024 * 1024
_LARGEST = 2**63 - 1


def checked_limit(limit: int) -> int:
    """Return the limit if it is between 1 and `MOST`."""
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"`limit` must be between 1 and {MOST}.", code="invalid_field", field="limit")
    return limit


class Valued(Protocol):
    """A row of sums, identified by its value: a recorded name, a day, or None."""

    @property
    def value(self) -> object: ...


def computed_rows[R: Valued](
    rows: Sequence[R], limit: int, after: str | None
) -> tuple[Sequence[R], str | None]:
    """The rows of one page, of rows that are computed whole, in their order of now, and its `next`. Raises `InvalidInput` if the row that `after` names is gone."""
    begin = 0 if after is None else _behind(read(after, name), rows)
    end = begin + checked_limit(limit)
    shown = rows[begin:end]
    more = len(rows) > end
    return shown, written([_digest(shown[-1])]) if more else None


def sized_rows[Row: Model](
    found: QuerySet[Row], limit: int, after: str | None, place: str, size: Expression
) -> tuple[Iterable[Row], str | None]:
    """The rows of one page in the order of a number, its `place`, and its `next`: at most `PAGE_BYTES` of payload, and at least one row.

    `size` is how many bytes of payload a row has (see `payload_sizes`). One query more than the rows need. Raises `InvalidInput`.
    """
    if after is not None:
        found = found.filter(**{f"{place}__gt": read(after, number)})
    bare = found.order_by(place).select_related(None).prefetch_related(None)
    sizes = list(bare.annotate(page_bytes=size).values_list(place, "page_bytes")[: checked_limit(limit) + 1])
    if not sizes:
        return [], None
    count = _fitting([each for _, each in sizes[:limit]])
    last = sizes[count - 1][0]
    rows = found.order_by(place).filter(**{f"{place}__lte": last})
    return rows, written([last]) if len(sizes) > count else None


def written(place: list[Any]) -> str:
    """The place of an item as an opaque text."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def read[Part](after: str, kind: Callable[[Any], Part]) -> Part:
    """The place of one part that `written` wrote: a `number`, a `name` or an `identity`. Raises `InvalidInput` for any other text."""
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


def identity(part: Any) -> UUID:
    """A UUID. Raises `ValueError`."""
    return UUID(part if isinstance(part, str) else "")


def ordered_rows[Row: Model](
    found: QuerySet[Row],
    limit: int,
    after: str | None,
    order: str = "-id",
    kind: Callable[[Any], object] = identity,
) -> tuple[list[Row], str | None]:
    """The rows of one page of a list that is in the order of this field, and its `next`. Raises `InvalidInput`.

    `kind` is that of the field's values.
    """
    field = order.removeprefix("-")
    if after is not None:
        beyond = "lt" if order.startswith("-") else "gt"
        found = found.filter(**{f"{field}__{beyond}": read(after, kind)})
    return first_rows(found, limit, field)


def first_rows[Row: Model](
    found: QuerySet[Row], limit: int, field: str = "id"
) -> tuple[list[Row], str | None]:
    """The first rows of a list, and the `next` of their page, which names the last by this field."""
    rows = list(found[: checked_limit(limit) + 1])
    shown = rows[:limit]
    if len(rows) == len(shown):
        return shown, None
    place = getattr(shown[-1], field)
    return shown, written([str(place) if isinstance(place, UUID) else place])


def _behind(digest: str, rows: Sequence[Valued]) -> int:
    for place, row in enumerate(rows, 1):
        if _digest(row) == digest:
            return place
    raise InvalidInput(
        "The row that `after` names no longer exists. Start again without `after`.", code="unknown_after"
    )


def _digest(row: Valued) -> str:
    """Return the place of a row, a digest of its value, because recorded names can contain anything."""
    return sha256_hex(repr(row.value).encode())


def _fitting(sizes: Sequence[int]) -> int:
    """Return how many of the rows fit into `PAGE_BYTES`; always at least one."""
    fitting = [total for total in accumulate(sizes) if total <= PAGE_BYTES]
    return max(len(fitting), 1)


def _unreadable() -> InvalidInput:
    return InvalidInput(
        "`after` does not belong to this list. Use `next` of the previous page.",
        code="invalid_field",
        field="after",
    )
