"""Intakes, asked for from the project that may see them."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.knowledge.models import Collection
from timemachine.knowledge.replacing import EditedFrame, EndedFrame, edited_beside, ended_frames
from timemachine.recording.intake.models import DONE, Intake


def intakes_of(collection: Collection) -> QuerySet[Intake]:
    """The files handed in to a collection, the last one first."""
    return Intake.objects.filter(collection=collection).order_by("-id")


def on_their_way(collection: Collection, uri: str) -> QuerySet[Intake]:
    """The files of that uri that were handed in to a collection and are not over; without a uri a file goes by its name."""
    named = Q(uri=uri) | Q(uri="", name=uri)
    return Intake.objects.filter(named, collection=collection, finished_at=None)


def intake_of(project: Project, intake_id: str) -> Intake:
    """The project's intake of that id. Raises `NotFound`, the same for another project's."""
    wanted = uuid_of(intake_id)
    intakes = Intake.objects.filter(project=project).select_related("collection", "session", "source")
    found = None if wanted is None else intakes.filter(id=wanted).first()
    if found is None:
        raise NotFound("There is no such intake in this project.", code="intake_not_found")
    return found


def ended_by(intake: Intake) -> list[EndedFrame]:
    """The first twenty frames that the file ended, once it is in."""
    if not intake.ended or intake.source is None:
        return []
    puts = intake.source.puts.filter(at__lte=intake.finished_at, ended=intake.ended, put_by=intake.put_by)
    put = puts.select_related("source").order_by("-at").first()
    return [] if put is None else ended_frames(put)


def edited_beside_it(intake: Intake) -> list[EditedFrame]:
    """The frames that were edited by hand and now have beside them their old text, which is in the file; once it is in."""
    return edited_beside(intake.source) if intake.status == DONE and intake.source is not None else []


def with_the_next(collections: Iterable[Collection]) -> list[Collection]:
    """The collections, each with `on_the_way`, the file that is put into it now or is the next to be; None where none is."""
    found = list(collections)
    open_ones = Intake.objects.filter(collection__in=found, finished_at=None).defer("skipped")
    first: dict[UUID, Intake] = {}
    for intake in open_ones.order_by("status", "id"):  # running before waiting
        first.setdefault(intake.collection_id, intake)
    for collection in found:
        carries: Any = collection
        carries.on_the_way = first.get(collection.id)
    return found
