"""Queries about deletion: matching sessions, holds, bulk deletions with their results, retention rules."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Greatest

from timemachine.core.accounts.models import Project
from timemachine.core.database import row_of
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.schemas import Schema
from timemachine.governance.deletion.retention.models import (
    CANCELLED,
    ERASED,
    STATES,
    WAITING,
    BulkDeletion,
    BulkDeletionSession,
    RetentionRule,
)
from timemachine.governance.deletion.retention.session_filter import SessionSelection
from timemachine.memory.search.sessions import SessionQuery, sessions_matching
from timemachine.recording.answering.summaries import HAS_SUMMARY
from timemachine.recording.sessions.holds import IS_HELD
from timemachine.recording.sessions.models import ErasedSession, ErasedTurn, HeldSession, Hold, Session
from timemachine.recording.sessions.queries import OLDEST_FIRST

LAST_ACTIVITY: Final = Greatest("started_at", "last_action_at", "ended_at")
"""When anything last happened in a session."""
SHOWN: Final = 100


class SessionCounts(Schema):
    """How many sessions with how many steps are meant.

    `held` are under legal hold and stay, `recording` are still open, and of `summarised` a summary stays in a collection.
    """

    sessions: int
    turns: int
    held: int
    recording: int
    summarised: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a bulk deletion: its sessions by state, the turns of deleted ones, and how many waiting
    or deleted sessions have a summary that stays.
    """

    states: Mapping[str, int] = field(default_factory=dict)
    turns: int = 0
    deleted_turns: int = 0
    summarised: int = 0

    @property
    def sessions(self) -> int:
        return sum(self.states.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleDeletion:
    """A deletion of one thing: the session `gone` with its `actions`, or the turn `sequence` of a session."""

    at: datetime
    by: str | None
    reason: str | None
    gone: UUID | None = None
    actions: int = 0
    of: Session | None = None
    sequence: int = 0


def matching_sessions(
    project: Project, which: SessionSelection, at: datetime | None = None
) -> QuerySet[Session]:
    """Return the project's sessions that match at a moment (default: now). Raises `InvalidInput`."""
    fields = {name: value for name, value in which if name != "older_than_days"}
    found = sessions_matching(project, SessionQuery(**fields))
    if which.older_than_days is None:
        return found
    return older_than(found, which.older_than_days, at)


def older_than(sessions: QuerySet[Session], days: int, at: datetime | None = None) -> QuerySet[Session]:
    """Return the sessions that neither started nor ended nor recorded anything in that many days."""
    moment = (at or now()) - timedelta(days=days)
    return sessions.alias(last=LAST_ACTIVITY).filter(last__lt=moment)


def amount_of(sessions: QuerySet[Session]) -> SessionCounts:
    """Return the number of sessions and turns, and how many are held. One query."""
    annotated = sessions.order_by().annotate(is_held=IS_HELD, has_summary=HAS_SUMMARY)
    found = annotated.aggregate(
        number=Count("pk"),
        turns=Sum("last_sequence", default=0),
        held=Count("pk", filter=Q(is_held=True)),
        recording=Count("pk", filter=Q(status=Session.RECORDING)),
        summarised=Count("pk", filter=Q(has_summary=True)),
    )
    return SessionCounts.model_construct(sessions=found.pop("number"), **found)


def holds_of(project: Project) -> QuerySet[Hold]:
    """Return the project's holds, newest first, including released ones. `number` is how many sessions each
    has, `open` how many it still holds.
    """
    still_held = Count("held", filter=Q(held__released_at=None))
    found = Hold.objects.filter(project=project).annotate(number=Count("held"), open=still_held)
    return found.order_by("-id")


def hold_of(project: Project, hold_id: str | UUID) -> Hold:
    """Return the project's hold with that id, with its numbers. Raises `NotFound`."""
    missing = NotFound(f"There is no hold {str(hold_id)[:60]!r} in this project.", code="hold_not_found")
    return row_of(holds_of(project), hold_id, missing)


def holds_over(session: Session) -> QuerySet[Hold]:
    """Return every hold that a session is or was under, newest first."""
    return holds_of(session.project).filter(
        Exists(HeldSession.objects.filter(hold=OuterRef("pk"), session=session))
    )


def held_by(hold: Hold, most: int = SHOWN) -> list[tuple[HeldSession, Session | None]]:
    """Return the first sessions of a hold; None for one that was deleted after its release. Two queries."""
    rows = list(HeldSession.objects.filter(hold=hold).order_by("id")[:most])
    there = Session.objects.filter(project=hold.project_id).in_bulk([each.session_id for each in rows])
    return [(each, there.get(each.session_id)) for each in rows]


def bulk_deletions_of(project: Project) -> QuerySet[BulkDeletion]:
    """Return the project's bulk deletions, newest first, without those cancelled before confirmation."""
    found = BulkDeletion.objects.filter(project=project).exclude(status=CANCELLED, confirmed_at=None)
    return found.select_related("rule").order_by("-id")


def bulk_deletion_of(project: Project, forgetting_id: str | UUID) -> BulkDeletion:
    """Return the project's bulk deletion with that id. Raises `NotFound`."""
    missing = NotFound(
        f"There is no deletion {str(forgetting_id)[:60]!r} in this project.", code="forgetting_not_found"
    )
    mine = BulkDeletion.objects.filter(project=project).select_related("rule")
    return row_of(mine, forgetting_id, missing)


def outcomes_by_deletion(forgettings: Iterable[BulkDeletion]) -> dict[UUID, Outcome]:
    """Return the result of each bulk deletion so far. One query."""
    ids = [each.id for each in forgettings]
    rows = BulkDeletionSession.objects.filter(forgetting__in=ids).values("forgetting", "state")
    states: dict[UUID, Counter[str]] = {each: Counter() for each in ids}
    turns: dict[UUID, Counter[str]] = {each: Counter() for each in ids}
    summarised: Counter[UUID] = Counter()
    kept_summary = Count("id", filter=Q(summarised=True, state__in=(WAITING, ERASED)))
    for row in rows.annotate(number=Count("id"), all_turns=Sum("turns"), summarised_count=kept_summary):
        summarised[row["forgetting"]] += row["summarised_count"]
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


def single_deletions(project: Project, most: int = SHOWN) -> list[SingleDeletion]:
    """Return the latest sessions and turns that were deleted one by one, newest first. Two queries."""
    in_bulk = BulkDeletionSession.objects.filter(
        forgetting__project=project, session=OuterRef("session"), state=ERASED
    )
    whole = ErasedSession.objects.filter(~Exists(in_bulk), project=project).order_by("-id")[:most]
    turns = ErasedTurn.objects.filter(session__project=project).select_related("session").order_by("-id")
    found = [
        SingleDeletion(
            at=each.erased_at, by=each.erased_by, reason=each.reason, gone=each.session, actions=each.actions
        )
        for each in whole
    ]
    found += [
        SingleDeletion(
            at=each.erased_at, by=each.erased_by, reason=each.reason, of=each.session, sequence=each.sequence
        )
        for each in turns[:most]
    ]
    return sorted(found, key=attrgetter("at"), reverse=True)[:most]


def sessions_of(found: BulkDeletion) -> QuerySet[BulkDeletionSession]:
    """Return its sessions in order."""
    return found.sessions.order_by("id")


def existing_sessions(rows: Iterable[BulkDeletionSession], project: Project) -> dict[UUID, Session]:
    """Return those of these sessions that still exist, by id. One query."""
    return Session.objects.filter(project=project).in_bulk([each.session for each in rows])


def held_count(found: BulkDeletion) -> int:
    """Return how many of its waiting sessions are under a hold now and would stay. One query."""
    held = HeldSession.objects.filter(session=OuterRef("session"), released_at=None)
    return found.sessions.filter(Exists(held), state="waiting").count()


def is_every(found: BulkDeletion) -> bool:
    """Return whether it has every session of the project. One query."""
    mine = BulkDeletionSession.objects.filter(forgetting=found, session=OuterRef("pk"))
    return not Session.objects.filter(~Exists(mine), project=found.project_id).exists()


def rules_of(project: Project) -> QuerySet[RetentionRule]:
    """Return the project's retention rules, the most specific first."""
    found = RetentionRule.objects.filter(project=project, removed_at=None)
    return found.order_by("-tag", "-agent", "id")


def rule_of(project: Project, rule_id: str | UUID) -> RetentionRule:
    """Return the project's retention rule with that id. Raises `NotFound`."""
    missing = NotFound(
        f"There is no retention rule {str(rule_id)[:60]!r} in this project.", code="retention_rule_not_found"
    )
    return row_of(rules_of(project), rule_id, missing)


def due_by(
    rule: RetentionRule, among: Iterable[RetentionRule], at: datetime | None = None
) -> QuerySet[Session]:
    """Return the sessions that a rule would delete at a moment, unless a stronger rule of `among` decides."""
    found = _decided_by(rule, among)
    if rule.days is None:
        return found.none()
    return older_than(found, rule.days, at).order_by(*OLDEST_FIRST)


def first_due(rule: RetentionRule, among: Iterable[RetentionRule]) -> datetime | None:
    """Return when a rule deletes, or should have deleted, the first session without a hold. One query."""
    found = _decided_by(rule, among).filter(~IS_HELD).aggregate(last=Min(LAST_ACTIVITY))["last"]
    return None if found is None or rule.days is None else found + timedelta(days=rule.days)


def _decided_by(rule: RetentionRule, among: Iterable[RetentionRule]) -> QuerySet[Session]:
    found = Session.objects.filter(_covered(rule), project=rule.project_id)
    for other in among:
        if other.id != rule.id and _takes_precedence(other, rule):
            found = found.exclude(_covered(other))
    return found


def _covered(rule: RetentionRule) -> Q:
    found = Q(agent=rule.agent) if rule.agent else Q()
    found &= Q(tags__contains=[rule.tag]) if rule.tag else Q()
    return found or Q(pk__isnull=False)


def _takes_precedence(other: RetentionRule, rule: RetentionRule) -> bool:
    """Return whether the other rule decides: a tag before an agent, then the one that keeps longer."""
    mine, its = _specificity(rule), _specificity(other)
    if mine != its:
        return its > mine
    return other.days is None or (rule.days is not None and (other.days, other.id) > (rule.days, rule.id))


def _specificity(rule: RetentionRule) -> tuple[bool, bool]:
    return bool(rule.tag), bool(rule.agent)
