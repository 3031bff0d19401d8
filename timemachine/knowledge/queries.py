"""Collections and their frames of a project, now or at an earlier time, and why a collection was empty."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.postgres_text import is_plain
from timemachine.knowledge.models import Collection, Frame

DELETING_CAUSES = ("delete", "replace")


def collections_of(project: Project) -> QuerySet[Collection]:
    """Return the project's collections, by name."""
    return Collection.objects.filter(project=project).order_by("name")


def collection_of(project: Project, name: str) -> Collection:
    """Return the project's collection of that name.

    Raises `NotFound`, also for a collection of another project.
    """
    found = Collection.objects.filter(project=project, name=name).first() if is_plain(name) else None
    if found is None:
        raise NotFound(
            f"There is no collection {name[:80]!r} in this project. Put a frame into it to create it.",
            code="collection_not_found",
        )
    return found


def frames_at(collection: Collection, at: datetime | None = None) -> QuerySet[Frame]:
    """Return the frames of the collection at a time (None: now), by number."""
    frames = (
        Frame.objects.filter(collection=collection)
        .select_related("payload", "collection", "source")
        .order_by("number")
    )
    if at is None:
        return frames.filter(valid_until=None)
    return frames.filter(Q(valid_until=None) | Q(valid_until__gt=at), valid_from__lte=at)


def deleted_frames(collection: Collection, at: datetime | None = None) -> QuerySet[Frame]:
    """Return the last versions of frames that were deleted or replaced before a time (None: now), by number."""
    frames_at = Frame.objects.filter(
        collection=collection, valid_until__isnull=False, ended_by__in=DELETING_CAUSES
    )
    return (frames_at if at is None else frames_at.filter(valid_until__lte=at)).order_by("number")


def versions_of(collection: Collection, number: int) -> QuerySet[Frame]:
    """Return all versions of a frame, oldest first. Raises `NotFound` if there is no such frame."""
    versions = (
        Frame.objects.filter(collection=collection, number=number)
        .select_related("payload", "collection", "source")
        .order_by("version")
    )
    if not versions.exists():
        raise NotFound(f"The collection {collection.name} has no frame {number}.", code="frame_not_found")
    return versions


def later_state(frame: Frame) -> str:
    """Return the later state of this version: `unchanged`, `updated`, or `deleted` (also by a newer file)."""
    if frame.valid_until is None:
        return "unchanged"
    return "deleted" if frame.ended_by in DELETING_CAUSES else _after_update(frame)


def _after_update(frame: Frame) -> str:
    latest = (
        Frame.objects.filter(collection_id=frame.collection_id, number=frame.number)
        .order_by("-version")
        .first()
    )
    return "deleted" if latest is not None and latest.ended_by in DELETING_CAUSES else "updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyReason:
    """Why a collection had no frames, as a code and as a sentence. `first_frame_at` is None if it never had any."""

    why: str
    message: str
    first_frame_at: datetime | None


def empty_reason(collection: Collection, at: datetime) -> EmptyReason | None:
    """Return why the collection was empty at a time, or None if it had frames."""
    if frames_at(collection, at).exists():
        return None
    first = Frame.objects.filter(collection=collection).order_by("number", "version").first()
    if first is None:
        why, message = "no_frames_yet", "The collection has no frames yet. Put some into it."
    elif first.valid_from > at:
        came = written(first.valid_from)
        why, message = (
            "no_frames_then",
            f"The collection had no frames at that time; the first was added at {came}.",
        )
    else:
        why, message = (
            "no_frames_left",
            "The collection had no frames at that time; all earlier ones had ended.",
        )
    return EmptyReason(why=why, message=message, first_frame_at=None if first is None else first.valid_from)
