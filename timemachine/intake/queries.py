"""Intakes, asked for from the project that may see them."""

from django.db.models import Q, QuerySet

from timemachine.accounts.models import Project
from timemachine.base.errors import NotFound
from timemachine.base.ids import uuid_of
from timemachine.intake.models import Intake
from timemachine.retrieval.models import Collection


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
