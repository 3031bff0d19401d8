"""Queries about uploaded files."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.knowledge.models import Collection
from timemachine.knowledge.sources import FrameEdited, FrameEnded, edited_frames, ended_frames
from timemachine.recording.importing.models import DONE
from timemachine.recording.intake.models import Intake


def intakes_of(collection: Collection) -> QuerySet[Intake]:
    """Return the files uploaded to a collection, the latest first."""
    return Intake.objects.filter(collection=collection).order_by("-id")


def on_their_way(collection: Collection, uri: str) -> QuerySet[Intake]:
    """Return the unfinished files with that URI in a collection. A file without a URI goes by its name."""
    named = Q(uri=uri) | Q(uri="", name=uri)
    return Intake.objects.filter(named, collection=collection, finished_at=None)


def intake_of(project: Project, intake_id: str) -> Intake:
    """Return the project's intake with this id. Raises `NotFound`, also for another project's intake."""
    parsed = uuid_of(intake_id)
    intakes = Intake.objects.filter(project=project).select_related("collection", "session", "source")
    found = None if parsed is None else intakes.filter(id=parsed).first()
    if found is None:
        raise NotFound("There is no such intake in this project.", code="intake_not_found")
    return found


def ended_by(intake: Intake) -> list[FrameEnded]:
    """Return the first twenty frames that the file ended, once it is done."""
    if not intake.ended or intake.source is None:
        return []
    puts = intake.source.puts.filter(at__lte=intake.finished_at, ended=intake.ended, put_by=intake.put_by)
    put = puts.select_related("source").order_by("-at").first()
    return [] if put is None else ended_frames(put)


def edited_beside_it(intake: Intake) -> list[FrameEdited]:
    """Return the frames that were edited by hand while another frame has their old text from this file, once it is done."""
    return edited_frames(intake.source) if intake.status == DONE and intake.source is not None else []


def with_the_next(collections: Iterable[Collection]) -> list[Collection]:
    """Return the collections, each with `on_the_way`: the file that is being put into it or is next, or None."""
    found = list(collections)
    open_ones = Intake.objects.filter(collection__in=found, finished_at=None).defer("skipped")
    first: dict[UUID, Intake] = {}
    for intake in open_ones.order_by("status", "id"):  # running before waiting
        first.setdefault(intake.collection_id, intake)
    for collection in found:
        carries: Any = collection
        carries.on_the_way = first.get(collection.id)
    return found
