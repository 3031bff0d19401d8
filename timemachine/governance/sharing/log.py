"""The access log. Lines are appended and never changed; the chain is verified whenever someone looks.

The project's log of evidence commits to the state of each access log, and its bundle has their lines.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import IO, Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import CharField, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Concat

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.audit.pure.actions import Action
from timemachine.core.pure.clock import now
from timemachine.core.pure.schemas import Schema
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import access
from timemachine.evidence.log.access import Head
from timemachine.evidence.models import AccessHead
from timemachine.governance.audit_log import commands as audit_commands
from timemachine.governance.audit_log import queries as audit_queries
from timemachine.governance.sharing.models import ShareLink, ShareOpening, SharePolicy
from timemachine.governance.sharing.pure.log_line import (
    NOBODY,
    Line,
    LogBreak,
    Visitor,
    first_break,
    line_bytes,
    sha256_of,
)
from timemachine.governance.sharing.pure.token import link_not_valid

CREATED, ENDED, POLICY = "created", "ended", "policy"
OPENED, DOWNLOADED = "opened", "downloaded"
WRONG_SECRET, WRONG_PASSPHRASE = "wrong_secret", "wrong_passphrase"
VISITOR: Final = "visitor"
_ACTIONS: Final[dict[str, Action]] = {
    CREATED: "share.created",
    ENDED: "share.revoked",
    OPENED: "share.opened",
    DOWNLOADED: "share.downloaded",
}
_READ_AT_ONCE: Final = 500


class LogCheck(Schema):
    """How many lines a log has, the hash of the last, and the first line that does not match; `broken` is null if all do."""

    lines: int
    sha256: str | None
    broken: LogBreak | None


def append(
    link: ShareLink,
    result: str,
    seen: Visitor = NOBODY,
    *,
    by: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Write the next line of a link's log in this transaction. Raises `NotFound` if the link was deleted."""
    _locked(link)
    line = Line(
        chain=chain_of(link),
        sequence=0,
        at=now(),
        result=result,
        by=by,
        address=seen.network,
        browser=seen.browser,
        facts=facts,
    )
    _write(line, ShareOpening(link=link, project_id=link.project_id), lines_of(link))
    action = _ACTIONS.get(result, "share.refused")
    more = {} if action != "share.refused" else {"why": result}
    seen_from = {} if by else {"network": seen.network}
    record(link.project_id, action, "share", link.public_id, by=by or VISITOR, **seen_from, **more)


def append_policy(policy: SharePolicy, *, by: str, facts: Mapping[str, Any]) -> None:
    """Write the next line of a project's policy log, in the transaction that locks the policy's row."""
    line = Line(chain=chain_of(policy.project), sequence=0, at=now(), result=POLICY, by=by, facts=facts)
    _write(line, ShareOpening(project_id=policy.project_id), lines_of(policy.project))
    record(policy.project_id, "share.policy_changed", by=by, **facts)


def lines_of(owner: ShareLink | Project) -> QuerySet[ShareOpening]:
    """Return the log of a link, or of a project's policy, from the first line."""
    found = ShareOpening.objects.order_by("sequence")
    if isinstance(owner, ShareLink):
        return found.filter(link=owner)
    return found.filter(project=owner, link=None)


def chain_of(owner: ShareLink | Project) -> str:
    """Return the name of a log, which is part of the hash of each of its lines."""
    return f"link {owner.pk}" if isinstance(owner, ShareLink) else f"policy {owner.pk}"


@transaction.atomic
def checked(owner: ShareLink | Project) -> LogCheck:
    """Read the log from its first line, verify every hash and count the openings."""
    if isinstance(owner, ShareLink):
        owner = _locked(owner)  # otherwise an opening between the two reads would look like an extra line
    found = [(line_of(row, owner), row.sha256) for row in lines_of(owner).iterator(chunk_size=_READ_AT_ONCE)]
    broken = first_break(found)
    if broken is None and isinstance(owner, ShareLink):
        broken = _miscounted(owner, [line for line, _ in found])
    return LogCheck.model_construct(lines=len(found), sha256=found[-1][1] if found else None, broken=broken)


def _locked(link: ShareLink) -> ShareLink:
    """Return the link as it is now, locked. Raises `NotFound` if it was deleted."""
    found = ShareLink.objects.select_for_update(no_key=True).filter(pk=link.pk).first()
    if found is None:
        raise link_not_valid()
    return found


def _write(line: Line, row: ShareOpening, lines: QuerySet[ShareOpening]) -> None:
    last = lines.last()
    if last is not None:
        line = replace(line, sequence=last.sequence + 1, previous_sha256=last.sha256)
    else:
        line = replace(line, sequence=1)
    row.sequence, row.at, row.result = line.sequence, line.at, line.result
    row.by, row.address, row.browser, row.facts = line.by, line.address, line.browser, line.facts
    row.previous_sha256, row.sha256 = line.previous_sha256, sha256_of(line)
    row.save(force_insert=True)


def line_of(row: ShareOpening, owner: ShareLink | Project) -> Line:
    """Return a row of that log as a line."""
    return Line(
        chain=chain_of(owner),
        sequence=row.sequence,
        at=row.at,
        result=row.result,
        by=row.by,
        address=row.address,
        browser=row.browser,
        facts=row.facts,
        previous_sha256=row.previous_sha256,
    )


def _miscounted(link: ShareLink, lines: list[Line]) -> LogBreak | None:
    """Return a missing line at the end, which leaves the chain intact but not the counts of the link."""
    counted = {result: sum(line.result == result for line in lines) for result in (CREATED, OPENED, ENDED)}
    if counted == {CREATED: 1, OPENED: link.opens, ENDED: int(link.revoked_at is not None)}:
        return None
    return LogBreak.model_construct(
        sequence=len(lines) + 1, why="the line is missing: the link counts more events than the log contains"
    )


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


def write_log(target: IO[bytes], project: Project, *, with_audit_log: bool = False) -> None:
    """Write the bundle of the project's log, with its access logs. Raises as `exporting.write_log` does."""
    record(project, "evidence.log_downloaded", with_audit_log=with_audit_log)
    audit = None
    if with_audit_log:
        audit_commands.chain(project.pk)
        audit = partial(audit_queries.lines, project)
    exporting.write_log(target, project, partial(_lines, project), audit)


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
            chain=chain_of(link or project),
            lines=each.sequence,
            sha256=each.sha256,
            session=link.session_id if link else None,
            comparison=link.comparison_id if link else None,
        )


def _lines(project: Project) -> Iterator[bytes]:
    """Yield each line of each access log as the bytes that its hash covers, log after log, in order."""
    rows = ShareOpening.objects.filter(project=project).select_related("link").order_by("link", "sequence")
    for row in rows.iterator(chunk_size=500):
        yield line_bytes(line_of(row, row.link or project))
