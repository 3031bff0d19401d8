"""Where passages came from and where they went, as a step's page shows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from timemachine.recording.sessions.frame_usage import UsedBy
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.provenance import (
    Provenance,
    Use,
    Uses,
    grounding_around,
    provenance_of,
    uses_of,
)
from timemachine.recording.timeline.step import Passage, Step
from timemachine.web.sessions.presenters.sentences import sentences

SHOWN: Final = 20
SHOWN_SESSIONS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """A passage, where it came from (None: not known here), and the numbers of the sentences that rest on it, at the step `answer`."""

    passage: Passage
    provenance: Provenance | None
    rests: Sequence[int]
    answer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownUse:
    """A later step that used what was put, and the sentences of its answer that rest on it."""

    use: Use
    rests: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Went:
    """What became of what a step put: later steps of the session, and the latest other sessions, with how many there are."""

    uses: Uses
    shown: Sequence[ShownUse]
    others: Sequence[UsedBy]
    other_sessions: int


def came_from(session: Session, found: Step) -> list[Came]:
    """The frozen passages of a step with where each came from. Three queries at most."""
    if not found.passages:
        return []
    known = provenance_of(session, found.passages)
    answer, grounding = _answer(session, found)
    rests = _Resting(grounding)
    return [
        Came(
            passage=each,
            provenance=known.get(each.hit.stored_frame_id or 0),
            rests=rests.on(each.hit.frame),
            answer=answer,
        )
        for each in found.passages
    ]


def went_to(session: Session, found: Step) -> Went | None:
    """What became of what a step put; None for a step that put nothing that stands in a collection."""
    uses = uses_of(session, found.action, found.output)
    if uses is None:
        return None
    others = [each for each in uses.everywhere.used_by if each.session != session.id]
    here = len(uses.everywhere.used_by) - len(others)
    return Went(
        uses=uses,
        shown=[ShownUse(use=each, rests=_Resting(each.grounding).on(each.frame)) for each in uses.uses],
        others=others[:SHOWN_SESSIONS],
        other_sessions=uses.everywhere.sessions - here,
    )


def provenance(session: Session, found: Step) -> dict[str, Any]:
    """What both tabs show of it."""
    came = came_from(session, found)
    return {"came": came, "came_first": came[:SHOWN], "went": went_to(session, found)}


class _Resting:
    """Which sentences of a recorded grounding rest on a frame."""

    def __init__(self, grounding: Any) -> None:
        told = grounding if isinstance(grounding, Mapping) else None
        self._said = [each for each in sentences(None, told) if each.grounded and each.number is not None]

    def on(self, frame: Any) -> list[int]:
        """The numbers of the sentences that rest on the frame; none on one without a name."""
        return list(self._numbers(frame)) if frame is not None else []

    def _numbers(self, frame: Any) -> Iterator[int]:
        for each in self._said:
            if each.frame == frame and each.number is not None:
                yield each.number


def _answer(session: Session, found: Step) -> tuple[int, Any]:
    """The step whose answer rests on the passages: the step itself, or for a find inside an ask that ask; with what was recorded of it."""
    action, parent = found.action, found.parent
    if action.kind == "find" and parent is not None and parent.kind == "ask":
        return parent.sequence, grounding_around(session, parent.sequence)
    return action.sequence, action.grounding
