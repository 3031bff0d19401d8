"""Whether the frozen context of a step is what was recorded. Every passage is hashed again."""

from collections.abc import Sequence
from typing import Final

from timemachine.core.pure.schemas import Schema
from timemachine.core.pure.verdicts import ContextVerdict

VERIFIED: Final = "verified"
RECONSTRUCTED: Final = "reconstructed"
ALTERED: Final = "altered"
MISSING: Final = "missing"
NOT_RECORDED: Final = "not_recorded"


class FrozenFrameOut(Schema):
    """A recorded passage, with the hash that was recorded and the one that its stored bytes have now.

    `since` is the later change of the frame in its collection: `unchanged`, `updated` or `deleted`.
    """

    rank: int
    frame: int | str | None
    version: int | None
    verdict: ContextVerdict
    since: str | None
    sha256: str | None
    sha256_now: str | None


def frame_verdict(recorded: str | None, now: str | None) -> ContextVerdict:
    """Return the verdict on a passage, given the hash that was recorded and that of its stored bytes now."""
    if recorded is None:
        return NOT_RECORDED
    if now is None:
        return MISSING
    return VERIFIED if now == recorded else ALTERED


def context_verdict(frames: Sequence[FrozenFrameOut]) -> ContextVerdict:
    """Return the worst verdict of the frames. A step without frames has nothing to verify: `not_recorded`."""
    verdicts = {frame.verdict for frame in frames} or {NOT_RECORDED}
    return next(verdict for verdict in (ALTERED, MISSING, NOT_RECORDED, VERIFIED) if verdict in verdicts)
