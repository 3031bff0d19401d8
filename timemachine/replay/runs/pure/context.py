"""Whether the frozen context of a step is what was recorded: every passage hashed again, none taken on trust. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

VERIFIED, ALTERED, MISSING, NOT_RECORDED = "verified", "altered", "missing", "not_recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenFrame:
    """A passage as recorded, beside the hash that its stored bytes have now (None: no bytes are there).

    `since` is what became of the frame in its collection: `unchanged`, `updated`, `deleted`; None where it is not ours.
    """

    rank: int
    frame: int | str | None
    version: int | None
    recorded_sha256: str | None
    sha256_now: str | None
    since: str | None

    @property
    def verdict(self) -> str:
        """`verified`, `altered`, `missing`, or `not_recorded` where no hash was recorded."""
        if self.recorded_sha256 is None:
            return NOT_RECORDED
        if self.sha256_now is None:
            return MISSING
        return VERIFIED if self.sha256_now == self.recorded_sha256 else ALTERED

    def as_json(self) -> dict[str, Any]:
        """The frame as a replay step shows it, with both hashes, so that a reader can compare them."""
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
    """The worst of the frames' verdicts; a step with no frame has nothing that could be verified: `not_recorded`."""
    verdicts = {frame.verdict for frame in frames} or {NOT_RECORDED}
    return next(verdict for verdict in (ALTERED, MISSING, NOT_RECORDED, VERIFIED) if verdict in verdicts)
