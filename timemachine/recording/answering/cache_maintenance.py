"""Keeping the answer cache in bounds: its switch, its figures, emptying it, and what the sweeper takes out."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Sum, Window

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.recording.answering.cache import is_on, most_bytes, oldest
from timemachine.recording.answering.models import AnswerCacheSwitch, CachedAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheFigures:
    """What a project's cache holds, and whether it is used; `changed_by` and `changed_at` are None where nobody switched it."""

    on: bool
    changed_by: str | None
    changed_at: datetime | None
    answers: int
    bytes: int
    most_bytes: int


def figures_of(project: Project) -> CacheFigures:
    """What the project's cache holds now."""
    held = CachedAnswer.objects.filter(project=project).aggregate(answers=Count("id"), bytes=Sum("size"))
    switch = AnswerCacheSwitch.objects.filter(project=project).first()
    return CacheFigures(
        on=is_on(project.id),
        changed_by=switch.changed_by if switch else None,
        changed_at=switch.changed_at if switch else None,
        answers=held["answers"],
        bytes=held["bytes"] or 0,
        most_bytes=most_bytes(),
    )


def switch(project: Project, *, on: bool, by: str) -> None:
    """Switch the project's cache on or off. What is in it stays, unread while it is off, until it is too old."""
    AnswerCacheSwitch.objects.update_or_create(
        project=project, defaults={"on": on, "changed_by": by, "changed_at": now()}
    )


def empty(project: Project) -> int:
    """Take every answer out of the project's cache; how many there were. What sessions recorded stays."""
    removed, _ = CachedAnswer.objects.filter(project=project).delete()
    return removed


def trim() -> int:
    """Take out what is too old, then of each project that holds too much what was used longest ago; how many in all."""
    aged, _ = CachedAnswer.objects.filter(kept_at__lte=oldest()).delete()
    running = Window(
        Sum("size"), partition_by=[F("project_id")], order_by=[F("used_at").desc(), F("id").desc()]
    )
    too_much = CachedAnswer.objects.annotate(running=running).filter(running__gt=most_bytes())
    over, _ = CachedAnswer.objects.filter(id__in=list(too_much.values_list("id", flat=True))).delete()
    return aged + over
