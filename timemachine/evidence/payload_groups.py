"""Payloads read many at a time, and never more of them than fit in memory together."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from timemachine.evidence.record import Field
from timemachine.payloads.models import Payload

TOGETHER: Final = 32 * 1024 * 1024  # bytes that are read at once; a payload alone may be larger


def read(fields: Sequence[Field]) -> Iterator[tuple[int, bytes]]:
    """Row and bytes of each payload that is still there, in the order of the fields."""
    for group in _groups(fields):
        ids = [each.payload for each in group if each.payload is not None]
        rows = {
            row: bytes(data) for row, data in Payload.objects.filter(id__in=ids).values_list("id", "data")
        }
        yield from ((row, rows[row]) for row in ids if row in rows)


def digest(data: bytes) -> bytes:
    """The SHA-256 of bytes as they stand now."""
    return hashlib.sha256(data).digest()


def _groups(fields: Sequence[Field]) -> Iterator[list[Field]]:
    group, size = list[Field](), 0
    for each in fields:
        if group and size + each.size > TOGETHER:
            yield group
            group, size = [], 0
        group.append(each)
        size += each.size
    if group:
        yield group
