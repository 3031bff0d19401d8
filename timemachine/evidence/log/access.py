"""Access logs in the project's log, by length and last hash, so that a rewritten one is noticed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.evidence.log import project_log
from timemachine.evidence.models import AccessHead
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison

ACCESS = "access"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of an access log: its name, number of lines and last hash. Deleted with what it is about."""

    chain: str
    lines: int
    sha256: str
    session: UUID | None = None
    comparison: UUID | None = None


@transaction.atomic
def commit(project: Project, heads: Sequence[Head]) -> int:
    """Add the heads that have grown to the project's log and return their number. Concurrent calls wait."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    heads = _with_subject(heads)
    chains = [each.chain for each in heads]
    known = dict(AccessHead.objects.filter(chain__in=chains).values_list("chain", "lines"))
    grown = [each for each in heads if each.lines > known.get(each.chain, 0)]
    if grown:
        project_log.append(
            project,
            [
                {"entry": ACCESS, "chain": each.chain, "lines": each.lines, "sha256": each.sha256}
                for each in grown
            ],
        )
    for each in grown:
        AccessHead.objects.update_or_create(
            chain=each.chain,
            defaults={
                "project": project,
                "session_id": each.session,
                "comparison_id": each.comparison,
                "lines": each.lines,
                "sha256": each.sha256,
            },
        )
    return len(grown)


def _with_subject(heads: Sequence[Head]) -> list[Head]:
    sessions = Session.objects.filter(id__in={each.session for each in heads if each.session})
    compared = Comparison.objects.filter(id__in={each.comparison for each in heads if each.comparison})
    there = {None, *sessions.values_list("id", flat=True), *compared.values_list("id", flat=True)}
    return [each for each in heads if {each.session, each.comparison} <= there]


def tombstones(session: Session, touched: Iterable[Comparison]) -> list[dict[str, object]]:
    """Return tombstones for the access logs of a session and of comparisons that have no other session."""
    deleted = [each.pk for each in touched if not each.runs.exclude(replay__session=session).exists()]
    heads = AccessHead.objects.filter(session=session) | AccessHead.objects.filter(comparison__in=deleted)
    return [
        {"entry": project_log.ERASED, "of": ACCESS, "id": chain, "generation": 1}
        for chain in heads.order_by("id").values_list("chain", flat=True)
    ]
