"""A put in the record: which version of which frame it put, and where that stands."""

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
class Putting:
    """What a put says of itself: the version of the frame, and whether it had stood in the collection before."""

    collection: str
    number: int
    version: int
    already_there: bool


def putting_of(kind: str, output: Head | None) -> Putting | None:
    """What a step says it put; None for one that is no put, or whose output names no frame of a collection."""
    if kind != "put" or output is None or output.cut:
        return None
    try:
        said = json.loads(output.text)
    except ValueError:
        return None
    return _putting(said) if isinstance(said, Mapping) else None


def puttings_of(actions: Iterable[Action]) -> dict[int, Putting]:
    """What those of the actions that put something say they put, by their rows. One query."""
    puts = [action for action in actions if action.kind == "put"]
    found = heads([action.output_id for action in puts], FIRST_BYTES) if puts else {}
    said = {action.id: putting_of(action.kind, found.get(action.output_id)) for action in puts}
    return {row: putting for row, putting in said.items() if putting is not None}


def frames_put(project_id: UUID, puttings: Iterable[Putting]) -> QuerySet[Frame]:
    """The versions of frames that were put, where they stand in a collection of the project."""
    wanted = Q(pk__in=())
    for each in puttings:
        wanted |= Q(collection__name=each.collection, number=each.number, version=each.version)
    return Frame.objects.filter(wanted, collection__project_id=project_id)


def _putting(said: Mapping[str, Any]) -> Putting | None:
    collection, number, version = (said.get(name) for name in ("collection", "frame", "version"))
    if not isinstance(collection, str) or not is_plain(collection):
        return None
    if not (_is_whole(number, _MOST_NUMBER) and _is_whole(version, _MOST_VERSION)):
        return None
    return Putting(
        collection=collection,
        number=number,
        version=version,
        already_there=said.get("already_there") is True,
    )


def _is_whole(number: object, most: int) -> TypeIs[int]:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < most
