"""Choosing the disclosed fields of records. Their texts are read in groups, and only if they are needed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, partial

from timemachine.evidence.pure.record import Field, Record
from timemachine.evidence.sealing import payload_groups
from timemachine.evidence.sealing.subjects import Subject

Discloses = Callable[[Subject, Record, Callable[[], Mapping[str, str]]], AbstractSet[str]]
"""Returns the names of a record's disclosed fields. The last argument returns the texts of all its fields."""


@dataclass(frozen=True)
class _Texts:
    """The texts of records whose payloads fit in memory together, read in one query."""

    records: Sequence[Record]

    def of(self, record: Record) -> dict[str, str]:
        found = {
            name: self._payloads.get(each.payload or 0, each.data) for name, each in record.fields.items()
        }
        return {
            name: data.decode("utf-8", "surrogatepass") for name, data in found.items() if data is not None
        }

    @cached_property
    def _payloads(self) -> dict[int, bytes]:
        return dict(payload_groups.read([each for record in self.records for each in _stored(record)]))


def disclosed(records: Sequence[Record], subject: Subject, discloses: Discloses) -> Iterator[Record]:
    """Yield the records with only their disclosed fields."""
    sized = payload_groups.grouped_by_size(records, lambda record: sum(each.size for each in _stored(record)))
    for group in sized:
        texts = _Texts(group)
        for record in group:
            names = discloses(subject, record, partial(texts.of, record))
            fields = {name: each for name, each in record.fields.items() if name in names}
            yield replace(record, fields=fields)


def _stored(record: Record) -> list[Field]:
    return [each for each in record.fields.values() if each.payload is not None]
