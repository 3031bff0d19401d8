"""Payloads read many at a time, and never more of them than fit in memory together."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from timemachine.core.payloads.models import Payload
from timemachine.evidence.pure.record import Field

TOGETHER: Final = 32 * 1024 * 1024  # bytes that are read at once; a payload alone may be larger


def read(fields: Sequence[Field]) -> Iterator[tuple[int, bytes]]:
    """Row and bytes of each payload that is still there, in the order of the fields."""
    for group in together(fields, lambda each: each.size):
        ids = [each.payload for each in group if each.payload is not None]
        rows = {
            row: bytes(data) for row, data in Payload.objects.filter(id__in=ids).values_list("id", "data")
        }
        yield from ((row, rows[row]) for row in ids if row in rows)


def digest(data: bytes) -> bytes:
    """The SHA-256 of bytes as they stand now."""
    return hashlib.sha256(data).digest()


def together[Each](many: Iterable[Each], size: Callable[[Each], int]) -> Iterator[list[Each]]:
    """They in their order, as many at a time as have `TOGETHER` bytes at most; one that is larger stands alone."""
    group, sum_ = list[Each](), 0
    for each in many:
        if group and sum_ + size(each) > TOGETHER:
            yield group
            group, sum_ = [], 0
        group.append(each)
        sum_ += size(each)
    if group:
        yield group
