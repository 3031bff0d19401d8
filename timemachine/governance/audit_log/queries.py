"""Reading a project's audit log: by filter, as a chain that is checked from its first line, and what is to be forwarded."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery

from timemachine.core.accounts.models import Project
from timemachine.core.audit.models import AuditEvent
from timemachine.core.audit.pure.actions import WORDS
from timemachine.core.database import snapshot
from timemachine.core.pure.clock import now, parse_field, parse_typed_start, parse_typed_time
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.postgres_text import is_plain
from timemachine.evidence.log import project_log
from timemachine.governance.audit_log.destinations import configured
from timemachine.governance.audit_log.models import AuditForwarding
from timemachine.governance.audit_log.pure.lines import BEFORE_THE_FIRST, Line
from timemachine.governance.audit_log.schemas import AuditBreak, AuditCheck

SUBJECTS: Final = tuple(dict.fromkeys(action.partition(".")[0] for action in WORDS))
"""What actions are about: the part before the dot."""
_READ_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events: by who acted, by action (`key.created`) or its subject (`key`), from one time to another."""

    actor: str = ""
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None


def event_filter(*, actor: str = "", action: str = "", since: str = "", until: str = "") -> EventFilter:
    """Return the filter that a request describes. A date alone means its whole day. Raises `InvalidInput`."""
    if action and action not in WORDS and action not in SUBJECTS:
        raise InvalidInput(
            f"Unknown action {action[:60]!r}. Use one such as key.created, or its subject: {', '.join(SUBJECTS)}.",
            code="invalid_field",
            field="action",
        )
    if not is_plain(actor):
        raise InvalidInput("`actor` has characters that no name has.", code="invalid_field", field="actor")
    return EventFilter(
        actor=actor.strip(),
        action=action,
        since=parse_field("since", since, parse_typed_start) if since else None,
        until=parse_field("until", until, parse_typed_time) if until else None,
    )


def events_of(project: Project, chosen: EventFilter) -> QuerySet[AuditEvent]:
    """Return the project's events that a filter chooses, newest first."""
    found = AuditEvent.objects.filter(project=project).order_by("-id")
    if chosen.actor:
        found = found.filter(actor=chosen.actor)
    if chosen.action:
        has_verb = "." in chosen.action
        actions = (
            [chosen.action] if has_verb else [each for each in WORDS if each.startswith(f"{chosen.action}.")]
        )
        found = found.filter(action__in=actions)
    span = Q()
    if chosen.since:
        span &= Q(at__gte=chosen.since)
    if chosen.until:
        span &= Q(at__lte=chosen.until)
    return found.filter(span)


def line_of(event: AuditEvent) -> Line:
    """Return an event with its place as a line of the chain."""
    return Line(
        chain=f"audit {event.project_id}",
        sequence=event.sequence or 0,
        at=event.at,
        action=event.action,
        actor=event.actor,
        address=event.address,
        request_id=event.request_id,
        target_type=event.target_type,
        target_id=event.target_id,
        facts=event.facts,
        previous_sha256=event.previous_sha256 or "",
    )


def chained_events(project: Project) -> QuerySet[AuditEvent]:
    """Return the events that have a place, in their order."""
    return AuditEvent.objects.filter(project=project, sequence__isnull=False).order_by("sequence")


def end_of_chain(project: Project) -> AuditEvent | None:
    """Return the last event that has a place."""
    return chained_events(project).last()


def lines(project: Project) -> Iterator[bytes]:
    """Yield the lines of the chain as the bytes that their hashes cover."""
    for event in chained_events(project).iterator(chunk_size=_READ_AT_ONCE):
        yield line_of(event).data()


def check(project: Project) -> AuditCheck:
    """Read the chain from its first line and verify every hash, and each end that the project's signed evidence log has."""
    with snapshot():
        lines, sha256, broken = _checked(project)
        waiting = AuditEvent.objects.filter(project=project, sequence=None).count()
    return AuditCheck.model_construct(lines=lines, sha256=sha256, broken=broken, waiting=waiting)


def _checked(project: Project) -> tuple[int, str | None, AuditBreak | None]:
    """Return the number of lines up to the first that does not match, the hash of the last that does, and the break."""
    committed = _committed(project)
    if committed is None:
        return 0, None, _broken_at(1, "the project's evidence log is not as it was signed")
    before, number = BEFORE_THE_FIRST, 0
    for number, event in enumerate(chained_events(project).iterator(chunk_size=_READ_AT_ONCE), 1):
        why = _mismatch(event, number, before, committed)
        if why:
            return number, before, _broken_at(number, why)
        before = event.sha256 or ""
    end, last = max(committed, default=0), before if number else None
    if end > number:
        return number, last, _broken_at(number + 1, "the line is missing: the evidence log commits to more")
    if end < number:
        return number, last, _broken_at(end + 1, "it is not in the signed evidence log")
    return number, last, None


def _broken_at(sequence: int, why: str) -> AuditBreak:
    return AuditBreak.model_construct(sequence=sequence, why=why)


def _committed(project: Project) -> dict[int, set[str]] | None:
    """Return the hashes that the project's evidence log has of the chain, by their number of lines.

    An event gets its place and its entry in that log in one transaction. None if the log is not as it was signed.
    """
    log = project_log.signed_log(project.pk)
    if log is None:
        return None if project_log.exists(project.pk) else {}
    found: dict[int, set[str]] = {}
    for entry in log.with_text(f'"entry":"{project_log.AUDIT}"'):
        if entry["entry"] == project_log.AUDIT:
            found.setdefault(entry["lines"], set()).add(entry["sha256"])
    return found


def _mismatch(event: AuditEvent, number: int, before: str, committed: Mapping[int, set[str]]) -> str:
    if event.sequence != number:
        return "the line is missing"
    if event.previous_sha256 != before:
        return "it does not follow the previous line"
    if line_of(event).sha256 != event.sha256:
        return "it was changed"
    known = committed.get(number, {event.sha256})
    return "" if known == {event.sha256} else "it or an earlier line is not the one in the evidence log"


def forwardings_of(project: Project) -> list[AuditForwarding]:
    """Return how far the project's events were forwarded to each configured destination."""
    found = AuditForwarding.objects.filter(project=project, destination__in=configured())
    return list(found.order_by("destination"))


def projects_to_forward() -> list[UUID]:
    """Return the projects with events that a configured destination has not accepted, and may be tried now."""
    destinations = configured()
    if not destinations:
        return []
    done = _forwardings()
    return [
        project
        for project, end in _ends()
        if any(_is_due(done.get((project, name)), end) for name in destinations)
    ]


def events_behind() -> dict[str, int]:
    """Return how many events of the chains of all projects each configured destination has not accepted yet."""
    destinations = configured()
    if not destinations:
        return {}
    done, ends = _forwardings(), _ends()
    return {
        name: sum(
            end - (found.sequence if (found := done.get((project, name))) else 0) for project, end in ends
        )
        for name in destinations
    }


def remaining(found: AuditForwarding) -> QuerySet[AuditEvent]:
    """Return the events that the destination has not accepted yet, in their order."""
    return AuditEvent.objects.filter(project=found.project_id, sequence__gt=found.sequence).order_by(
        "sequence"
    )


def _is_due(found: AuditForwarding | None, end: int) -> bool:
    return found is None or (found.sequence < end and found.next_at <= now())


def _forwardings() -> dict[tuple[UUID, str], AuditForwarding]:
    return {(each.project_id, each.destination): each for each in AuditForwarding.objects.all()}


def _ends() -> list[tuple[UUID, int]]:
    """Return the number of lines of every project's chain, each read from the end of its index."""
    last = AuditEvent.objects.filter(project=OuterRef("pk"), sequence__isnull=False).order_by("-sequence")
    ends = Project.objects.order_by().annotate(end=Subquery(last.values("sequence")[:1]))
    return [(project, end) for project, end in ends.values_list("pk", "end") if end is not None]
