"""Where the passages of a step came from, and where they were used later."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.recording.sessions.frames import FrameUser
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline import provenance as recorded
from timemachine.recording.timeline.step import Passage, Step
from timemachine.web.sessions.presenters.sentences import Sentence, sentences

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
    shown = sentences(None, grounding)
    return [
        PassageOrigin(
            passage=each,
            provenance=known.get(each.hit.stored_frame_id or 0),
            rests=_resting_on(each.hit.frame, shown),
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
        shown=[
            ShownUse(use=each, rests=_resting_on(each.frame, sentences(None, each.grounding)))
            for each in uses.uses
        ],
        others=others[:SHOWN_SESSIONS],
        other_sessions=uses.everywhere.sessions - here,
    )


def provenance(session: Session, found: Step) -> dict[str, object]:
    """Return the provenance for the Action and Context tabs."""
    came = passage_origins(session, found)
    return {"came": came, "came_first": came[:SHOWN], "went": later_uses(session, found)}


def _resting_on(frame: Any, sentences: Sequence[Sentence]) -> list[int]:
    """Return the numbers of the sentences that the frame supports; none for a frame without a name."""
    supported = [each for each in sentences if each.grounded and frame is not None and each.frame == frame]
    return [each.number for each in supported if each.number is not None]


def _answer(session: Session, found: Step) -> tuple[int, Any]:
    """Return the step whose answer uses the passages (the step itself, or the ask around a find) with its recorded grounding."""
    action, parent = found.action, found.parent
    if action.kind == "find" and parent is not None and parent.kind == "ask":
        return parent.sequence, recorded.grounding_around(session, parent.sequence)
    return action.sequence, action.grounding
