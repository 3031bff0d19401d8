"""Where a passage or a cached answer came from, and where a passage was used: from a hit to the put of its frame, from a put to
the steps that used it, and from an answer to the ask that it was first given to."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeIs
from uuid import UUID

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from timemachine.core.pure.clock import parse_time
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.postgres_text import is_plain
from timemachine.knowledge.models import Frame
from timemachine.recording.sessions.frames import MOST_HITS, FrameUses, frame_usage, sha256_of_put
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.queries import HAPPENED_HERE
from timemachine.recording.timeline.step import FIRST_BYTES, Head, Passage, heads

MOST_USES: Final = 20
_MOST_NUMBER: Final = 2**63
_MOST_VERSION: Final = 2**31
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
class PutRecord:
    """What a put recorded: the version of the frame, and whether it was already in the collection."""

    collection: str
    number: int
    version: int
    already_there: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PutAt:
    """The step that put a frame; `session_name` is None for a step of the session being viewed."""

    session: UUID
    session_name: str | None
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The author and time of a frame's version, and the step that put it; None if no session recorded that."""

    by: str
    at: datetime
    step: PutAt | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A later step that found the frame at `rank`. `frame` is its name in the hit, `grounding` that of the recorded answer."""

    sequence: int
    kind: str
    label: str
    tool: str | None
    rank: int
    frame: Any
    grounding: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """How a frame that was put has been used: the first of the `number` later steps of its session, with `more` at least
    that many.

    `everywhere` counts all sessions that used it, including this one.
    """

    putting: PutRecord
    frame: Frame
    uses: Sequence[Use]
    number: int
    more: bool
    everywhere: FrameUses


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The first ask: its session and step, its time, and how long the model took; None if not recorded.

    `outside`: it was asked outside a session. `erased`: its session is no longer in the project. If neither is set
    and there is no session, the record does not name it.
    """

    session: Session | None
    sequence: int | None
    outside: bool
    erased: bool
    at: datetime | None
    call_ms: float | None


def put_record(kind: str, output: Head | None) -> PutRecord | None:
    """Return what a step put; None if it is not a put, or its output names no frame of a collection."""
    if kind != "put" or output is None or output.cut:
        return None
    try:
        recorded = json.loads(output.text)
    except ValueError:
        return None
    return _put_record(recorded) if isinstance(recorded, Mapping) else None


def put_records(actions: Iterable[Action]) -> dict[int, PutRecord]:
    """Return what these actions put, by action row. One query."""
    puts = [action for action in actions if action.kind == "put"]
    found = heads([action.output_id for action in puts], FIRST_BYTES) if puts else {}
    records = {action.id: put_record(action.kind, found.get(action.output_id)) for action in puts}
    return {row: record for row, record in records.items() if record is not None}


def frames_put(project_id: UUID, records: Iterable[PutRecord]) -> QuerySet[Frame]:
    """Return the versions of frames that were put and are in a collection of the project."""
    condition = Q(pk__in=())
    for each in records:
        condition |= Q(collection__name=each.collection, number=each.number, version=each.version)
    return Frame.objects.filter(condition, collection__project_id=project_id)


def provenance_of(session: Session, passages: Sequence[Passage]) -> dict[int, Provenance]:
    """Return the provenance of frames in recorded hits, by frame row. Frames from outside, or erased ones, are absent.
    Two queries."""
    rows = {row for each in passages if (row := each.hit.stored_frame_id) is not None}
    if not rows:
        return {}
    frames = list(Frame.objects.select_related("collection").only(*FRAME).filter(id__in=rows))
    hashes = {frame.id: sha256_of_put(frame) for frame in frames}
    put_at = _steps_that_put(session, set(hashes.values()))
    return {
        frame.id: Provenance(by=frame.put_by, at=frame.valid_from, step=put_at.get(hashes[frame.id]))
        for frame in frames
    }


def uses_of(session: Session, action: Action, output: Head | None) -> Uses | None:
    """Return how the frame that a step put has been used; None if it put nothing that is in a collection. At most seven
    queries."""
    putting = put_record(action.kind, output)
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
        everywhere=frame_usage([frame.id]),
    )


def grounding_around(session: Session, sequence: int) -> Any:
    """Return the recorded grounding of a step's answer; a find inside an ask leads to it. One query."""
    return (
        Action.objects.filter(session=session, sequence=sequence).values_list("grounding", flat=True).first()
    )


def origin_of(project_id: UUID, cached_from: Mapping[str, Any] | None) -> Origin | None:
    """Return the first ask as recorded; None for an answer that is not from the cache. One query."""
    if cached_from is None:
        return None
    named = uuid_of(cached_from.get("session") or "")  # another application may name sessions otherwise
    found = Session.objects.filter(project_id=project_id, id=named).first() if named else None
    return origin_in(found, cached_from)


def origin_in(session: Session | None, cached_from: Mapping[str, Any]) -> Origin:
    """Return the first ask as recorded, in the session that the record names; None if there is no such session."""
    named, sequence, at = (cached_from.get(name) for name in ("session", "sequence", "at"))
    return Origin(
        session=session if sequence is not None else None,
        sequence=sequence,
        outside="session" in cached_from and named is None,
        erased=named is not None and session is None,
        at=None if at is None else parse_time(at),
        call_ms=cached_from.get("call_ms"),
    )


def _put_record(output: Mapping[str, Any]) -> PutRecord | None:
    collection, number, version = (output.get(name) for name in ("collection", "frame", "version"))
    if not isinstance(collection, str) or not is_plain(collection):
        return None
    if not (_is_whole(number, _MOST_NUMBER) and _is_whole(version, _MOST_VERSION)):
        return None
    return PutRecord(
        collection=collection,
        number=number,
        version=version,
        already_there=output.get("already_there") is True,
    )


def _is_whole(number: object, most: int) -> TypeIs[int]:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < most


def _steps_that_put(session: Session, hashes: Collection[str]) -> Mapping[str, PutAt]:
    """Return the steps of the project whose output has one of these hashes: this session's first, else the earliest, else a
    copy."""
    place = Case(
        When(~HAPPENED_HERE, then=Value(2)),
        When(session=session, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    puts = Action.objects.filter(
        project_id=session.project_id,
        kind="put",
        output__project_id=session.project_id,
        output__media_type="application/json",
        output__sha256__in=hashes,
    )
    found = puts.order_by("output_id", place, "id").distinct("output_id")
    return {
        sha256: PutAt(session=where, session_name=None if where == session.id else name, sequence=sequence)
        for sha256, where, name, sequence in found.values_list(
            "output__sha256", "session_id", "session__name", "sequence"
        )
    }


def _uses(frame: Frame, steps: Sequence[int]) -> list[Use]:
    rows = Action.objects.filter(id__in=steps).order_by("sequence")
    hits = Hit.objects.filter(action__in=steps, stored_frame=frame).order_by("-rank")
    best = {action: (rank, named) for action, rank, named in hits.values_list("action_id", "rank", "frame")}
    return [
        Use(
            sequence=row.sequence,
            kind=row.kind,
            label=row.label,
            tool=row.tool,
            rank=best[row.id][0],
            frame=best[row.id][1],
            grounding=row.grounding,
        )
        for row in rows.only("sequence", "kind", "label", "tool", "grounding")
    ]
