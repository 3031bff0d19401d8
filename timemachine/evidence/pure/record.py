"""A record before it is sealed, or as it is now: its fields as the bytes that are committed to. Pure."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.clock import written
from timemachine.core.pure.content import canonical_json

NO_LINKS: Final[Mapping[str, str]] = {}
HIT_COLUMNS: Final = (
    "rank",
    "score",
    "scores",
    "frame",
    "version",
    "title",
    "uri",
    "metadata",
    "sha256",
    "matched",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field: the SHA-256 of its bytes, and the bytes themselves or the id and size of their payload."""

    digest: bytes
    data: bytes | None = None
    payload: int | None = None
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record: its index, kind, time (RFC 3339), fields by name, and links to other records."""

    index: int
    kind: str
    at: str
    fields: Mapping[str, Field]
    links: Mapping[str, str] = field(default_factory=lambda: NO_LINKS)

    @classmethod
    def of(
        cls,
        index: int,
        kind: str,
        at: datetime | None,
        fields: Iterable[tuple[str, Field | None]],
        links: Mapping[str, str] = NO_LINKS,
    ) -> "Record":
        """Return the record with those of these fields that are not None."""
        found = {name: each for name, each in fields if each is not None}
        return cls(index=index, kind=kind, at=written(at) or "", fields=found, links=links)


def json_field(values: Mapping[str, Any]) -> Field | None:
    """Return a field with the canonical JSON of the recorded values, or None if none was recorded."""
    recorded = {name: value for name, value in values.items() if value is not None}
    return inline_field(canonical_json(recorded)) if recorded else None


def value_field(value: Any) -> Field | None:
    """Return a field with the canonical JSON of a value, or None if it was not recorded."""
    return None if value is None else inline_field(canonical_json(value))


def inline_field(data: bytes) -> Field:
    """Return a field whose bytes are in the record's own row."""
    return Field(digest=hashlib.sha256(data).digest(), data=data)


def payload_field(row: Mapping[str, Any], name: str = "payload") -> Field | None:
    """Return the payload of a row with `payload_columns` as a field, by its stored hash; None without one."""
    if row[f"{name}_id"] is None:
        return None
    digest = bytes.fromhex(row[f"{name}__sha256"])
    return Field(digest=digest, payload=row[f"{name}_id"], size=row[f"{name}__size"])


def payload_columns(name: str) -> tuple[str, str, str]:
    """Return the columns of a row that `payload_field` needs."""
    return f"{name}_id", f"{name}__sha256", f"{name}__size"


HIT_ROW: Final = (*payload_columns("payload"), *HIT_COLUMNS)
"""The columns of a passage that `hit_fields` needs."""


def hit_fields(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Field | None]]:
    """Yield the fields of passages: `hit.N` for source and ranking, `hit.N.text` for the text."""
    for row in rows:
        name = f"hit.{row['rank']}"
        yield name, json_field({each: row[each] for each in HIT_COLUMNS})
        yield f"{name}.text", payload_field(row)


def rows_by(rows: Iterable[Mapping[str, Any]], name: str) -> Mapping[Any, Sequence[Mapping[str, Any]]]:
    """Return the rows by one of their columns; an empty list for any other value."""
    found = defaultdict[Any, list[Mapping[str, Any]]](list)
    for row in rows:
        found[row[name]].append(row)
    return found


def error_of(kind: str | None, message: str | None) -> Mapping[str, str | None] | None:
    """Return an error as it is committed to; None if there was none."""
    return None if kind is None and message is None else {"type": kind, "message": message}


def text_of(dollars: Decimal | None) -> str | None:
    """Return US dollars with every digit that the database stores."""
    return None if dollars is None else str(dollars)
