"""The state of a session after a step as a visitor sees it: totals, messages, and the frames used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from timemachine.governance.sharing.read_models.steps import WITHHELD_HIT, hits_in
from timemachine.recording.timeline.state import StateMessage
from timemachine.recording.usage.models import FirstUse
from timemachine.recording.usage.pure.totals import Totals


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedUse:
    """A version of a frame, and the step that first returned it."""

    sequence: int
    frame: Any
    version: int | None
    title: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedState:
    """The state after a step: its totals, the latest of `message_count` messages, and the first of `frames_used_count` frames."""

    sequence: int
    totals: Totals
    messages: Sequence[StateMessage]
    message_count: int
    frames_used: Sequence[SharedUse]
    frames_used_count: int


def shared_use(use: FirstUse, documents: tuple[Mapping[str, Any], Mapping[str, Any]] | None) -> SharedUse:
    """Return a first use. `documents` are its step before and after redaction; None if nothing is withheld."""
    if documents is None:
        return SharedUse(sequence=use.sequence, frame=use.frame, version=use.version, title=use.title)
    before = hits_in(documents[0])
    hits = zip(before, hits_in(documents[1], len(before)), strict=True)
    hit: Mapping[str, Any] = next(
        (shown for recorded, shown in hits if recorded["rank"] == use.rank), WITHHELD_HIT
    )
    return SharedUse(
        sequence=use.sequence, frame=hit.get("frame"), version=hit.get("version"), title=hit.get("title")
    )
