"""Events of the audit log as lines of a chain: each contains the hash of the line before it.

A line's hash is the SHA-256 of its canonical JSON (`timemachine.core.pure.content.canonical_json`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from timemachine.core.pure.content import canonical_json, sha256_hex

FORMAT: Final = "time machine audit log 1"
BEFORE_THE_FIRST: Final = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An event in its place: `chain` is `audit` and the project's id, `sequence` counts from 1."""

    chain: str
    sequence: int
    at: datetime
    action: str
    actor: str
    address: str | None
    request_id: str | None
    target_type: str
    target_id: str
    facts: Mapping[str, Any] | None
    previous_sha256: str

    def data(self) -> bytes:
        """Return the bytes that the line's hash covers."""
        at = self.at.astimezone(UTC).isoformat(timespec="microseconds")
        return canonical_json(asdict(self) | {"format": FORMAT, "at": at})

    @property
    def sha256(self) -> str:
        """Return the hash of the line, in lower-case hex."""
        return sha256_hex(self.data())
