"""Collections and their frames, as they are or as they were, from the project that asks."""

from datetime import datetime

from django.db.models import Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.postgres_text import is_plain
from timemachine.knowledge.models import Collection, Frame

GONE = ("delete", "replace")


def collections_of(project: Project) -> QuerySet[Collection]:
    """The project's collections by name."""
    return Collection.objects.filter(project=project).order_by("name")


def collection_of(project: Project, name: str) -> Collection:
    """The project's collection of that name. Raises `NotFound`, the same for another project's."""
    found = Collection.objects.filter(project=project, name=name).first() if is_plain(name) else None
    if found is None:
        raise NotFound(
            f"There is no collection {name[:80]!r} in this project; putting something into it makes it.",
            code="collection_not_found",
        )
    return found


def frames_at(collection: Collection, at: datetime | None = None) -> QuerySet[Frame]:
    """The frames of the collection at a moment (None: now), by number."""
    frames = (
        Frame.objects.filter(collection=collection)
        .select_related("payload", "collection", "source")
        .order_by("number")
    )
    if at is None:
        return frames.filter(valid_until=None)
    return frames.filter(Q(valid_until=None) | Q(valid_until__gt=at), valid_from__lte=at)


def deleted_frames(collection: Collection, at: datetime | None = None) -> QuerySet[Frame]:
    """The last versions of the frames that were gone at a moment (None: now), deleted or ended by a newer file, by number."""
    gone = Frame.objects.filter(collection=collection, valid_until__isnull=False, ended_by__in=GONE)
    return (gone if at is None else gone.filter(valid_until__lte=at)).order_by("number")


def versions_of(collection: Collection, number: int) -> QuerySet[Frame]:
    """Every version of a frame, the first one first. Raises `NotFound` where there is none."""
    versions = (
        Frame.objects.filter(collection=collection, number=number)
        .select_related("payload", "collection", "source")
        .order_by("version")
    )
    if not versions.exists():
        raise NotFound(f"The collection {collection.name} has no frame {number}.", code="frame_not_found")
    return versions


def since(frame: Frame) -> str:
    """What became of this version in its collection: `unchanged`, `updated` or `deleted` (also by a newer file)."""
    if frame.valid_until is None:
        return "unchanged"
    return "deleted" if frame.ended_by in GONE else _after_update(frame)


def _after_update(frame: Frame) -> str:
    latest = (
        Frame.objects.filter(collection_id=frame.collection_id, number=frame.number)
        .order_by("-version")
        .first()
    )
    return "deleted" if latest is not None and latest.ended_by in GONE else "updated"
