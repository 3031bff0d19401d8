"""Where the passages of a step came from, and where they were used later."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.recording.sessions.frames import FrameUser
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline import provenance as recorded
from timemachine.recording.timeline.step import Passage, Step
from timemachine.web.sessions.presenters.sentences import sentences

SHOWN: Final = 20
SHOWN_SESSIONS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageOrigin:
    """A passage, its origin (None: unknown), and the numbers of the sentences that it supports, at the step `answer`."""

    passage: Passage
    provenance: recorded.Provenance | None
    rests: Sequence[int]
    answer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownUse:
    """A later step that used a stored frame, and the sentences of its answer that the frame supports."""

    use: recorded.Use
    rests: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterUses:
    """Uses of the frames that a step stored: later steps of the session, and the latest other sessions, with their numbers."""

    uses: recorded.Uses
    shown: Sequence[ShownUse]
    others: Sequence[FrameUser]
    other_sessions: int


def passage_origins(session: Session, found: Step) -> list[PassageOrigin]:
    """Return the frozen passages of a step with their origins. At most three queries."""
    if not found.passages:
        return []
    known = recorded.provenance_of(session, found.passages)
    answer, grounding = _answer(session, found)
    rests = _Resting(grounding)
    return [
        PassageOrigin(
            passage=each,
            provenance=known.get(each.hit.stored_frame_id or 0),
            rests=rests.on(each.hit.frame),
            answer=answer,
        )
        for each in found.passages
    ]


def later_uses(session: Session, found: Step) -> LaterUses | None:
    """Return the uses of what a step stored; None for a step that stored nothing in a collection."""
    uses = recorded.uses_of(session, found.action, found.output)
    if uses is None:
        return None
    others = [each for each in uses.everywhere.used_by if each.session != session.id]
    here = len(uses.everywhere.used_by) - len(others)
    return LaterUses(
        uses=uses,
        shown=[ShownUse(use=each, rests=_Resting(each.grounding).on(each.frame)) for each in uses.uses],
        others=others[:SHOWN_SESSIONS],
        other_sessions=uses.everywhere.sessions - here,
    )


def provenance(session: Session, found: Step) -> dict[str, object]:
    """Return the provenance for the Action and Context tabs."""
    came = passage_origins(session, found)
    return {"came": came, "came_first": came[:SHOWN], "went": later_uses(session, found)}


class _Resting:
    """Looks up the sentences of a recorded grounding that a frame supports."""

    def __init__(self, grounding: Any) -> None:
        told = grounding if isinstance(grounding, Mapping) else None
        self._said = [each for each in sentences(None, told) if each.grounded and each.number is not None]

    def on(self, frame: Any) -> list[int]:
        """Return the numbers of the sentences that the frame supports; none for a frame without a name."""
        return list(self._numbers(frame)) if frame is not None else []

    def _numbers(self, frame: Any) -> Iterator[int]:
        for each in self._said:
            if each.frame == frame and each.number is not None:
                yield each.number


def _answer(session: Session, found: Step) -> tuple[int, Any]:
    """Return the step whose answer uses the passages (the step itself, or the ask around a find) with its recorded grounding."""
    action, parent = found.action, found.parent
    if action.kind == "find" and parent is not None and parent.kind == "ask":
        return parent.sequence, recorded.grounding_around(session, parent.sequence)
    return action.sequence, action.grounding
