"""The access log: lines are appended in the transaction of what they tell, never changed, and checked whenever somebody looks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.governance.sharing.models import ShareLink, ShareOpening, SharePolicy
from timemachine.governance.sharing.pure.log_line import Break, Line, first_break, sha256_of
from timemachine.governance.sharing.pure.refusal import link_not_valid
from timemachine.governance.sharing.pure.visitor import NOBODY, Visitor

CREATED, ENDED, POLICY = "created", "ended", "policy"
OPENED, DOWNLOADED = "opened", "downloaded"
WRONG_SECRET, WRONG_PASSPHRASE = "wrong_secret", "wrong_passphrase"
_READ_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """How many lines a log has, the hash of the last, and the first that does not fit; None where it is whole."""

    lines: int
    sha256: str | None
    broken: Break | None


def append(
    link: ShareLink,
    result: str,
    seen: Visitor = NOBODY,
    *,
    by: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Write the next line of a link's log, in the transaction that is under way. Raises `NotFound` where the link was erased meanwhile."""
    _held(link)
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


def append_policy(policy: SharePolicy, *, by: str, facts: Mapping[str, Any]) -> None:
    """Write the next line of a project's log of its policy, in the transaction that holds the policy's row."""
    line = Line(chain=chain_of(policy.project), sequence=0, at=now(), result=POLICY, by=by, facts=facts)
    _write(line, ShareOpening(project_id=policy.project_id), lines_of(policy.project))


def lines_of(owner: ShareLink | Project) -> QuerySet[ShareOpening]:
    """The log of a link, or of a project's policy, from the first line."""
    found = ShareOpening.objects.order_by("sequence")
    return (
        found.filter(link=owner) if isinstance(owner, ShareLink) else found.filter(project=owner, link=None)
    )


def chain_of(owner: ShareLink | Project) -> str:
    """The name of a log, which stands in the hash of each of its lines."""
    return f"link {owner.pk}" if isinstance(owner, ShareLink) else f"policy {owner.pk}"


@transaction.atomic
def checked(owner: ShareLink | Project) -> Checked:
    """The log read again from its first line: every hash computed, the openings counted."""
    if isinstance(owner, ShareLink):
        owner = _held(owner)  # or an opening between the two readings would look like a line too many
    found = [(line_of(row, owner), row.sha256) for row in _rows(owner)]
    broken = first_break(found)
    if broken is None and isinstance(owner, ShareLink):
        broken = _miscounted(owner, [line for line, _ in found])
    return Checked(lines=len(found), sha256=found[-1][1] if found else None, broken=broken)


def _held(link: ShareLink) -> ShareLink:
    """The link as it is now, and until the transaction ends. Raises `NotFound` where it was erased meanwhile."""
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


def _rows(owner: ShareLink | Project) -> Iterator[ShareOpening]:
    return lines_of(owner).iterator(chunk_size=_READ_AT_ONCE)


def line_of(row: ShareOpening, owner: ShareLink | Project) -> Line:
    """A row of that log as the line that it is."""
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


def _miscounted(link: ShareLink, lines: list[Line]) -> Break | None:
    """Lines cut off at the end leave a whole chain: the link itself says how often it was opened, and whether it was revoked."""
    counted = {result: sum(line.result == result for line in lines) for result in (CREATED, OPENED, ENDED)}
    if counted == {CREATED: 1, OPENED: link.opens, ENDED: int(link.revoked_at is not None)}:
        return None
    return Break(sequence=len(lines) + 1, why="the line is missing: the link tells of more than the log does")
