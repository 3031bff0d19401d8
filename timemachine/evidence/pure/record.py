"""A record before it is sealed, or as it stands now: its fields as the bytes that are committed to. Pure."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from timemachine.core.pure.content import canonical_json

NOTHING: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The SHA-256 of a field's bytes (32 bytes), and the bytes: here, or as the payload of that row, which has so many."""

    digest: bytes
    data: bytes | None = None
    payload: int | None = None
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a record says: its place in the order, kind, time (RFC 3339), fields by name, and links to other records."""

    index: int
    kind: str
    at: str
    fields: Mapping[str, Field]
    links: Mapping[str, str] = field(default_factory=lambda: NOTHING)


def written_here(values: Mapping[str, Any]) -> Field | None:
    """A field of JSON values: canonical JSON of those that were recorded, None where none was."""
    recorded = {name: value for name, value in values.items() if value is not None}
    return inline(canonical_json(recorded)) if recorded else None


def inline(data: bytes) -> Field:
    """A field whose bytes stand in the record's own row."""
    return Field(digest=hashlib.sha256(data).digest(), data=data)


def stored(payload: int, sha256: str, size: int) -> Field:
    """A field whose bytes are a payload's, by what they hashed to when they were kept."""
    return Field(digest=bytes.fromhex(sha256), payload=payload, size=size)


def present(fields: Iterable[tuple[str, Field | None]]) -> dict[str, Field]:
    """The fields that there are."""
    return {name: found for name, found in fields if found is not None}
