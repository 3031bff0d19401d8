"""Recorded puts: which version of which frame a step put, and where that is now."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeIs
from uuid import UUID

from django.db.models import Q, QuerySet

from timemachine.core.pure.postgres_text import is_plain
from timemachine.knowledge.models import Frame
from timemachine.recording.sessions.models import Action
from timemachine.recording.timeline.step import FIRST_BYTES, Head, heads

_MOST_NUMBER: Final = 2**63
_MOST_VERSION: Final = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRecord:
    """What a put recorded: the version of the frame, and whether it was already in the collection."""

    collection: str
    number: int
    version: int
    already_there: bool


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
