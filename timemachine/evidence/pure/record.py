"""A record before it is sealed, or as it is now: its fields as the bytes that are committed to. Pure."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

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
    """A field: the SHA-256 of its bytes (32 bytes), and the bytes themselves or the id and size of their
    payload.
    """

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


def json_field(values: Mapping[str, Any]) -> Field | None:
    """Return a field with the canonical JSON of the recorded values, or None if none was recorded."""
    recorded = {name: value for name, value in values.items() if value is not None}
    return inline_field(canonical_json(recorded)) if recorded else None


def inline_field(data: bytes) -> Field:
    """Return a field whose bytes are in the record's own row."""
    return Field(digest=hashlib.sha256(data).digest(), data=data)


def payload_field(payload: int, sha256: str, size: int) -> Field:
    """Return a field whose bytes are a payload, by the hash that was stored with it."""
    return Field(digest=bytes.fromhex(sha256), payload=payload, size=size)


def recorded_fields(fields: Iterable[tuple[str, Field | None]]) -> dict[str, Field]:
    """Return the fields that are not None, by name."""
    return {name: found for name, found in fields if found is not None}


def hit_fields(row: Mapping[str, Any]) -> Iterator[tuple[str, Field | None]]:
    """Yield the fields of a passage from its row: `hit.N` for its source and ranking, `hit.N.text` for its
    text.

    The row needs `payload_id`, `payload__sha256` and `payload__size`.
    """
    name = f"hit.{row['rank']}"
    yield name, json_field({each: row[each] for each in HIT_COLUMNS})
    if row["payload_id"] is not None:
        yield f"{name}.text", payload_field(row["payload_id"], row["payload__sha256"], row["payload__size"])
