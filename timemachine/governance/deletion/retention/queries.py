"""What is asked of forgetting: the sessions that are meant, holds, deletions in bulk with what became of each session, retention rules."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Greatest

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.governance.deletion.retention.models import (
    CANCELLED,
    ERASED,
    STATES,
    WAITING,
    Forgetting,
    ForgottenSession,
    RetentionRule,
)
from timemachine.governance.deletion.retention.session_filter import Which
from timemachine.memory.search.sessions import Wanted, sessions_matching
from timemachine.recording.answering.summaries import HAS_SUMMARY
from timemachine.recording.sessions.holds import IS_HELD
from timemachine.recording.sessions.models import ErasedSession, ErasedTurn, HeldSession, Hold, Session

LAST: Final = Greatest("started_at", "last_action_at", "ended_at")
"""When something of a session happened last."""
SHOWN: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """So many sessions with so many turns; `held` of the sessions are under legal hold, and stay; of `summarised` a summary stays in a collection."""

    sessions: int
    turns: int
    held: int
    recording: int = 0
    summarised: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of the sessions of a deletion in bulk: how many there are in each state, the turns of those that are deleted, and of how many of

    those that go or went a summary stays.
    """

    states: Mapping[str, int] = field(default_factory=dict)
    turns: int = 0
    deleted_turns: int = 0
    summarised: int = 0

    @property
    def sessions(self) -> int:
        """All of them."""
        return sum(self.states.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Singly:
    """A deletion of one thing: the session `gone` with so many `actions`, or the turn `sequence` of a session that is there."""

    at: datetime
    by: str | None
    reason: str | None
    gone: UUID | None = None
    actions: int = 0
    of: Session | None = None
    sequence: int = 0


def sessions_meant(project: Project, which: Which, at: datetime | None = None) -> QuerySet[Session]:
    """The project's sessions that are meant at a moment, now where none is given. Raises `InvalidInput` for what cannot be asked."""
    asked = {name: value for name, value in asdict(which).items() if name != "older_than_days"}
    found = sessions_matching(project, Wanted(**asked))
    if which.older_than_days is None:
        return found
    return older_than(found, which.older_than_days, at)


def older_than(sessions: QuerySet[Session], days: int, at: datetime | None = None) -> QuerySet[Session]:
    """Those that neither began nor ended since, and in which nothing was recorded since."""
    moment = (at or now()) - timedelta(days=days)
    return sessions.alias(last=LAST).filter(last__lt=moment)


def amount_of(sessions: QuerySet[Session]) -> Amount:
    """How many sessions and turns that is, and how many of them are held. One query."""
    told = sessions.order_by().annotate(is_held=IS_HELD, has_summary=HAS_SUMMARY)
    found = told.aggregate(
        number=Count("pk"),
        turns=Sum("last_sequence", default=0),
        held=Count("pk", filter=Q(is_held=True)),
        recording=Count("pk", filter=Q(status=Session.RECORDING)),
        summarised=Count("pk", filter=Q(has_summary=True)),
    )
    return Amount(sessions=found.pop("number"), **found)


def holds_of(project: Project) -> QuerySet[Hold]:
    """The project's holds, newest first, released ones too; `number` of sessions each, `open` of which it holds still."""
    return (
        Hold.objects.filter(project=project)
        .annotate(
            number=Count("held"),
            open=Count("held", filter=Q(held__released_at=None)),
        )
        .order_by("-id")
    )


def hold_of(project: Project, hold_id: str | UUID) -> Hold:
    """The project's hold of that id, with its numbers. Raises `NotFound`."""
    wanted = uuid_of(str(hold_id))
    found = holds_of(project).filter(id=wanted).first() if wanted else None
    if found is None:
        raise NotFound(f"There is no hold {str(hold_id)[:60]!r} in this project.", code="hold_not_found")
    return found


def holds_over(session: Session) -> QuerySet[Hold]:
    """Every hold under which a session is or was, newest first."""
    return holds_of(session.project).filter(
        Exists(HeldSession.objects.filter(hold=OuterRef("pk"), session=session))
    )


def held_by(hold: Hold, most: int = SHOWN) -> list[tuple[HeldSession, Session | None]]:
    """The first sessions that a hold named, None for one that was deleted after its release. Two queries."""
    rows = list(HeldSession.objects.filter(hold=hold).order_by("id")[:most])
    there = Session.objects.filter(project=hold.project_id).in_bulk([each.session_id for each in rows])
    return [(each, there.get(each.session_id)) for each in rows]


def forgettings_of(project: Project) -> QuerySet[Forgetting]:
    """The project's deletions in bulk, newest first; without those that were looked at and called off."""
    found = Forgetting.objects.filter(project=project).exclude(status=CANCELLED, confirmed_at=None)
    return found.select_related("rule").order_by("-id")


def forgetting_of(project: Project, forgetting_id: str | UUID) -> Forgetting:
    """The project's deletion in bulk of that id. Raises `NotFound`."""
    wanted = uuid_of(str(forgetting_id))
    mine = Forgetting.objects.filter(project=project).select_related("rule")
    found = mine.filter(id=wanted).first() if wanted else None
    if found is None:
        raise NotFound(
            f"There is no deletion {str(forgetting_id)[:60]!r} in this project.", code="forgetting_not_found"
        )
    return found


def outcomes_of(forgettings: Iterable[Forgetting]) -> dict[UUID, Outcome]:
    """What became of the sessions of each so far. One query."""
    ids = [each.id for each in forgettings]
    rows = ForgottenSession.objects.filter(forgetting__in=ids).values("forgetting", "state")
    states: dict[UUID, Counter[str]] = {each: Counter() for each in ids}
    turns: dict[UUID, Counter[str]] = {each: Counter() for each in ids}
    summarised: Counter[UUID] = Counter()
    said = Count("id", filter=Q(summarised=True, state__in=(WAITING, ERASED)))
    for row in rows.annotate(number=Count("id"), all_turns=Sum("turns"), said=said):
        summarised[row["forgetting"]] += row["said"]
        states[row["forgetting"]][row["state"]] = row["number"]
        turns[row["forgetting"]][row["state"]] = row["all_turns"]
    return {
        each: Outcome(
            states={name: states[each][name] for name in STATES if states[each][name]},
            turns=sum(turns[each].values()),
            deleted_turns=turns[each]["erased"],
            summarised=summarised[each],
        )
        for each in ids
    }


def singly_deleted(project: Project, most: int = SHOWN) -> list[Singly]:
    """The latest sessions that went by themselves, and turns of sessions that are there, newest first. Two queries."""
    in_bulk = ForgottenSession.objects.filter(
        forgetting__project=project, session=OuterRef("session"), state=ERASED
    )
    whole = ErasedSession.objects.filter(~Exists(in_bulk), project=project).order_by("-id")[:most]
    turns = ErasedTurn.objects.filter(session__project=project).select_related("session").order_by("-id")
    found = [
        Singly(
            at=each.erased_at, by=each.erased_by, reason=each.reason, gone=each.session, actions=each.actions
        )
        for each in whole
    ]
    found += [
        Singly(
            at=each.erased_at, by=each.erased_by, reason=each.reason, of=each.session, sequence=each.sequence
        )
        for each in turns[:most]
    ]
    return sorted(found, key=attrgetter("at"), reverse=True)[:most]


def sessions_of(found: Forgetting, *, after: int = 0, most: int = SHOWN) -> list[ForgottenSession]:
    """Some of its sessions in order, behind one of them."""
    return list(found.sessions.filter(id__gt=after).order_by("id")[:most])


def named(rows: Iterable[ForgottenSession], project: Project) -> dict[UUID, Session]:
    """Those of these sessions that are there. One query."""
    return Session.objects.filter(project=project).in_bulk([each.session for each in rows])


def held_of(found: Forgetting) -> int:
    """How many of its sessions that wait are under a hold now, and so would stay. One query."""
    held = HeldSession.objects.filter(session=OuterRef("session"), released_at=None)
    return found.sessions.filter(Exists(held), state="waiting").count()


def is_every(found: Forgetting) -> bool:
    """Whether it means every session that the project has. One query."""
    mine = ForgottenSession.objects.filter(forgetting=found, session=OuterRef("pk"))
    return not Session.objects.filter(~Exists(mine), project=found.project_id).exists()


def rules_of(project: Project) -> QuerySet[RetentionRule]:
    """The project's retention rules, the most specific first."""
    found = RetentionRule.objects.filter(project=project, removed_at=None)
    return found.order_by("-tag", "-agent", "id")


def rule_of(project: Project, rule_id: str | UUID) -> RetentionRule:
    """The project's retention rule of that id. Raises `NotFound`."""
    wanted = uuid_of(str(rule_id))
    found = rules_of(project).filter(id=wanted).first() if wanted else None
    if found is None:
        raise NotFound(
            f"There is no retention rule {str(rule_id)[:60]!r} in this project.",
            code="retention_rule_not_found",
        )
    return found


def due_by(
    rule: RetentionRule, among: Iterable[RetentionRule], at: datetime | None = None
) -> QuerySet[Session]:
    """The sessions that a rule would delete at a moment; those for which a stronger one of `among` holds are that one's."""
    found = _decided_by(rule, among)
    if rule.days is None:
        return found.none()
    return older_than(found, rule.days, at).order_by("started_at", "id")


def first_due(rule: RetentionRule, among: Iterable[RetentionRule]) -> datetime | None:
    """When the first session that stands now and is not held would be deleted by a rule, in the past for one that is due; None for none. One query."""
    found = _decided_by(rule, among).filter(~IS_HELD).aggregate(last=Min(LAST))["last"]
    return None if found is None or rule.days is None else found + timedelta(days=rule.days)


def _decided_by(rule: RetentionRule, among: Iterable[RetentionRule]) -> QuerySet[Session]:
    found = Session.objects.filter(_covered(rule), project=rule.project_id)
    for other in among:
        if other.id != rule.id and _is_stronger(other, rule):
            found = found.exclude(_covered(other))
    return found


def _covered(rule: RetentionRule) -> Q:
    found = Q(agent=rule.agent) if rule.agent else Q()
    found &= Q(tags__contains=[rule.tag]) if rule.tag else Q()
    return found or Q(pk__isnull=False)


def _is_stronger(other: RetentionRule, rule: RetentionRule) -> bool:
    """Whether the other decides where both cover a session: the one that says more, a tag before an agent; of equals the one that keeps longer."""
    mine, its = _weight(rule), _weight(other)
    if mine != its:
        return its > mine
    return other.days is None or (rule.days is not None and (other.days, other.id) > (rule.days, rule.id))


def _weight(rule: RetentionRule) -> tuple[bool, bool]:
    return bool(rule.tag), bool(rule.agent)


def facts_of(amount: Amount) -> dict[str, Any]:
    """The numbers as the API gives them."""
    return asdict(amount)
