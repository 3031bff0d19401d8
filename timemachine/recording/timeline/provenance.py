"""Where a passage came from and where it went: from a hit to the put that brought its frame, and from a put to the steps that used it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, IntegerField, Value, When

from timemachine.knowledge.models import Frame
from timemachine.recording.sessions.frame_usage import MOST_HITS, Usage, usage_of
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.put_output import sha256_of_put
from timemachine.recording.timeline.puts import Putting, frames_put, putting_of
from timemachine.recording.timeline.step import Head, Passage

MOST_USES: Final = 20
USE: Final = ("id", "sequence", "kind", "label", "tool", "grounding")
FRAME: Final = (
    "number",
    "version",
    "title",
    "uri",
    "sha256",
    "source_id",
    "source_start",
    "source_end",
    "put_by",
    "valid_from",
    "collection__name",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PutAt:
    """The step that put a frame; `session_name` is None where it is a step of the session that is looked at."""

    session: UUID
    session_name: str | None
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a version of a frame stands, who put it and when, and the step that did; None where no session recorded that."""

    collection: str
    number: int
    version: int
    by: str
    at: datetime
    step: PutAt | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A later step that found the frame at `rank`; `frame` is how its hit names it, `grounding` what was recorded of its answer."""

    sequence: int
    kind: str
    label: str
    tool: str | None
    rank: int
    frame: Any
    grounding: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """What became of a frame that was put: the first of the `number` later steps of its session that used it, with `more` of at least so many.

    `everywhere` are all sessions that used it, this one too.
    """

    putting: Putting
    frame: Frame
    uses: Sequence[Use]
    number: int
    more: bool
    everywhere: Usage


def provenance_of(session: Session, passages: Sequence[Passage]) -> dict[int, Provenance]:
    """Where the frames of recorded hits came from, by their rows; what came from no collection here, or was erased, is absent. Two queries."""
    wanted = {row for each in passages if (row := each.hit.stored_frame_id) is not None}
    if not wanted:
        return {}
    frames = list(Frame.objects.select_related("collection").only(*FRAME).filter(id__in=wanted))
    hashes = {frame.id: sha256_of_put(frame) for frame in frames}
    put_at = _steps_that_put(session, set(hashes.values()))
    return {
        frame.id: Provenance(
            collection=frame.collection.name,
            number=frame.number,
            version=frame.version,
            by=frame.put_by,
            at=frame.valid_from,
            step=put_at.get(hashes[frame.id]),
        )
        for frame in frames
    }


def uses_of(session: Session, action: Action, output: Head | None) -> Uses | None:
    """What became of what a step put; None for one that put nothing that stands in a collection. Seven queries at most."""
    putting = putting_of(action.kind, output)
    if putting is None:
        return None
    frame = frames_put(session.project_id, [putting]).select_related("collection").only(*FRAME).first()
    if frame is None:
        return None
    hits = Hit.objects.filter(stored_frame=frame, action_id__gt=action.id).order_by("action_id")[:MOST_HITS]
    used = Action.objects.filter(session=session, id__in=hits.values("action_id"))
    later = list(used.order_by("sequence").values_list("id", flat=True))
    return Uses(
        putting=putting,
        frame=frame,
        uses=_uses(frame, later[:MOST_USES]),
        number=len(later),
        more=hits.count() == MOST_HITS,
        everywhere=usage_of([frame.id]),
    )


def grounding_around(session: Session, sequence: int) -> Any:
    """What was recorded of the answer of a step; a find inside an ask leads to it. One query."""
    return (
        Action.objects.filter(session=session, sequence=sequence).values_list("grounding", flat=True).first()
    )


def _steps_that_put(session: Session, hashes: Collection[str]) -> Mapping[str, PutAt]:
    """The steps of the project whose output has one of these hashes: one of this session first, else the earliest."""
    elsewhere = Case(When(session=session, then=Value(0)), default=Value(1), output_field=IntegerField())
    puts = Action.objects.filter(
        project_id=session.project_id,
        kind="put",
        output__project_id=session.project_id,
        output__media_type="application/json",
        output__sha256__in=hashes,
    )
    found = puts.order_by("output_id", elsewhere, "id").distinct("output_id")
    return {
        sha256: PutAt(session=where, session_name=None if where == session.id else name, sequence=sequence)
        for sha256, where, name, sequence in found.values_list(
            "output__sha256", "session_id", "session__name", "sequence"
        )
    }


def _uses(frame: Frame, steps: Sequence[int]) -> list[Use]:
    rows = Action.objects.filter(id__in=steps).order_by("sequence").values(*USE)
    hits = Hit.objects.filter(action__in=steps, stored_frame=frame).order_by("-rank")
    best = {action: (rank, named) for action, rank, named in hits.values_list("action_id", "rank", "frame")}
    return [Use(rank=best[row["id"]][0], frame=best[row["id"]][1], **_without_id(row)) for row in rows]


def _without_id(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "id"}
