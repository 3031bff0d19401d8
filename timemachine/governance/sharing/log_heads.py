"""The access logs of a project in its log of evidence, and in the bundle of that log."""

from collections.abc import Iterator
from functools import partial
from typing import IO, Any
from uuid import UUID

from django.db.models import CharField, F, OuterRef, Q, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Concat

from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import access
from timemachine.evidence.log.access import Head
from timemachine.evidence.models import AccessHead
from timemachine.governance.sharing import log
from timemachine.governance.sharing.models import ShareLink, ShareOpening, SharePolicy
from timemachine.governance.sharing.pure.log_line import line_bytes


def projects_to_commit() -> list[UUID]:
    """Return the projects with an access log that has grown since the log of evidence committed to it."""
    links = ShareLink.objects.annotate(lines=_last(link=OuterRef("pk")), committed=_committed("link ", "pk"))
    policies = SharePolicy.objects.annotate(
        lines=_last(project=OuterRef("project"), link=None),
        committed=_committed("policy ", "project"),
    )
    grown = Q(lines__gt=F("committed"))
    found = {
        each for rows in (links, policies) for each in rows.filter(grown).values_list("project", flat=True)
    }
    return sorted(found)


def commit(project_id: UUID) -> int:
    """Commit the state of the project's access logs to its log; return how many grew. Safe to call twice."""
    project = Project.objects.filter(id=project_id).first()
    return 0 if project is None else access.commit(project, list(_heads(project)))


def write_log(target: IO[bytes], project: Project) -> None:
    """Write the bundle of the project's log, with its access logs. Raises as `exporting.write_log` does."""
    exporting.write_log(target, project, partial(_lines, project))


def _last(**of: Any) -> Subquery:
    return Subquery(ShareOpening.objects.filter(**of).order_by("-sequence").values("sequence")[:1])


def _committed(kind: str, row: str) -> Coalesce:
    name = Concat(Value(kind), Cast(OuterRef(row), CharField()))
    return Coalesce(Subquery(AccessHead.objects.filter(chain=name).values("lines")), 0)


def _heads(project: Project) -> Iterator[Head]:
    newest = ShareOpening.objects.filter(project=project).order_by("link", "-sequence").distinct("link")
    for each in newest.select_related("link"):
        link = each.link
        yield Head(
            chain=log.chain_of(link or project),
            lines=each.sequence,
            sha256=each.sha256,
            session=link.session_id if link else None,
            comparison=link.comparison_id if link else None,
        )


def _lines(project: Project) -> Iterator[bytes]:
    """Yield each line of each access log as the bytes that its hash covers, log after log, in order."""
    rows = ShareOpening.objects.filter(project=project).select_related("link").order_by("link", "sequence")
    for row in rows.iterator(chunk_size=500):
        yield line_bytes(log.line_of(row, row.link or project))
