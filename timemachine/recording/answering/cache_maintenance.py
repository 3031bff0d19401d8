"""Maintain the answer cache: switch it, report its size, empty it, and remove old answers."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Sum, Window

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.answering.cache import is_on, most_bytes, oldest
from timemachine.recording.answering.models import AnswerCacheSwitch, CachedAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStatus:
    """The size of a project's cache, and whether it is on. `changed_by` and `changed_at` are None if it was never switched."""

    on: bool
    changed_by: str | None
    changed_at: datetime | None
    answers: int
    bytes: int
    most_bytes: int


def status_of(project: Project) -> CacheStatus:
    """Return the status of the project's cache."""
    held = CachedAnswer.objects.filter(project=project).aggregate(answers=Count("id"), bytes=Sum("size"))
    switch = AnswerCacheSwitch.objects.filter(project=project).first()
    return CacheStatus(
        on=is_on(project.id),
        changed_by=switch.changed_by if switch else None,
        changed_at=switch.changed_at if switch else None,
        answers=held["answers"],
        bytes=held["bytes"] or 0,
        most_bytes=most_bytes(),
    )


def switch(project: Project, *, on: bool, by: str) -> None:
    """Switch the project's cache on or off. Its content stays until it is too old, but is not used while it is off."""
    AnswerCacheSwitch.objects.update_or_create(
        project=project, defaults={"on": on, "changed_by": by, "changed_at": now()}
    )


def empty(project: Project) -> int:
    """Delete every answer in the project's cache; return how many. What sessions recorded stays."""
    removed, _ = CachedAnswer.objects.filter(project=project).delete()
    return removed


def trim() -> int:
    """Delete answers that are too old, then the least recently used ones of projects over their limit; return how many."""
    aged, _ = CachedAnswer.objects.filter(kept_at__lte=oldest()).delete()
    running = Window(
        Sum("size"), partition_by=[F("project_id")], order_by=[F("used_at").desc(), F("id").desc()]
    )
    too_much = CachedAnswer.objects.annotate(running=running).filter(running__gt=most_bytes())
    over, _ = CachedAnswer.objects.filter(id__in=list(too_much.values_list("id", flat=True))).delete()
    return aged + over
