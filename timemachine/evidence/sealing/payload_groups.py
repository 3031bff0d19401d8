"""Payloads read many at a time, but never more than fit in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.queries import current_data
from timemachine.evidence.pure.record import Field

GROUP_BYTES: Final = 32 * 1024 * 1024  # a single payload may be larger


def read(fields: Sequence[Field]) -> Iterator[tuple[int, bytes]]:
    """Yield id and bytes of each payload that still exists, in the order of the fields."""
    for group in grouped_by_size(fields, lambda each: each.size):
        ids = [each.payload for each in group if each.payload is not None]
        found = Payload.objects.filter(id__in=ids).only("stored", "size", "packed")
        rows = {payload.id: current_data(payload) for payload in found}
        yield from ((row, rows[row]) for row in ids if row in rows)


def grouped_by_size[Each](many: Iterable[Each], size: Callable[[Each], int]) -> Iterator[list[Each]]:
    """Yield items in order, in groups of at most `GROUP_BYTES` bytes; a larger one is a group of its own."""
    group, sum_ = list[Each](), 0
    for each in many:
        if group and sum_ + size(each) > GROUP_BYTES:
            yield group
            group, sum_ = [], 0
        group.append(each)
        sum_ += size(each)
    if group:
        yield group
