"""Whether the frozen context of a step is what was recorded. Every passage is hashed again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

VERIFIED, ALTERED, MISSING, NOT_RECORDED = "verified", "altered", "missing", "not_recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenFrame:
    """A recorded passage with the hash of its stored bytes now (None if there are no bytes).

    `since` is what happened to the frame in its collection: `unchanged`, `updated` or `deleted`; None if it
    is not in a collection here.
    """

    rank: int
    frame: int | str | None
    version: int | None
    recorded_sha256: str | None
    sha256_now: str | None
    since: str | None

    @property
    def verdict(self) -> str:
        """Return `verified`, `altered`, `missing`, or `not_recorded` if no hash was recorded."""
        if self.recorded_sha256 is None:
            return NOT_RECORDED
        if self.sha256_now is None:
            return MISSING
        return VERIFIED if self.sha256_now == self.recorded_sha256 else ALTERED

    def as_json(self) -> dict[str, Any]:
        """Return the frame as a replay step shows it, with both hashes for comparison."""
        return {
            "rank": self.rank,
            "frame": self.frame,
            "version": self.version,
            "verdict": self.verdict,
            "since": self.since,
            "sha256": self.recorded_sha256,
            "sha256_now": self.sha256_now,
        }


def context_verdict(frames: Sequence[FrozenFrame]) -> str:
    """Return the worst verdict of the frames. A step without frames has nothing to verify: `not_recorded`."""
    verdicts = {frame.verdict for frame in frames} or {NOT_RECORDED}
    return next(verdict for verdict in (ALTERED, MISSING, NOT_RECORDED, VERIFIED) if verdict in verdicts)
