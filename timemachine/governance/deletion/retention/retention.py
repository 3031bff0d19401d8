"""Retention rules: how long sessions are kept (by default permanently). Deleting early needs a reason."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import counted
from timemachine.evidence.log import project_log
from timemachine.evidence.pure.reason import checked_reason
from timemachine.governance.deletion.retention.commands import start_for_rule
from timemachine.governance.deletion.retention.models import FINISHED, BulkDeletion, RetentionRule
from timemachine.governance.deletion.retention.queries import (
    SessionCounts,
    amount_of,
    due_by,
    first_due,
    rules_of,
)
from timemachine.governance.deletion.retention.session_filter import LONGEST, LONGEST_DAYS

FLOOR_DAYS: Final = 183
"""Six months: the least that providers and deployers of high-risk systems keep logs (EU AI Act, Articles 19 and 26(6))."""
SET, REMOVED = "set", "removed"


def is_early(days: int | None) -> bool:
    """Return whether that many days are fewer than six months."""
    return days is not None and days < FLOOR_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a new rule would do: the sessions `due`, when the `first` is deleted, and the rule it replaces."""

    rule: RetentionRule
    due: SessionCounts
    first: datetime | None
    replaced: RetentionRule | None


def preview(
    project: Project, *, days: int | None, agent: str = "", tag: str = "", reason: str | None = None
) -> Preview:
    """Return what `set_rule` would do with these values. Raises like it, except for a reason of None."""
    if reason is None:
        _check(days, agent, tag)
    else:
        reason = _checked(days, agent, tag, reason)
    rule = RetentionRule(project=project, agent=agent, tag=tag, days=days, reason=reason or "")
    active = list(rules_of(project))
    others = [each for each in active if (each.agent, each.tag) != (agent, tag)]
    return Preview(
        rule=rule,
        due=amount_of(due_by(rule, others)),
        first=first_due(rule, others),
        replaced=next((each for each in active if each not in others), None),
    )


@transaction.atomic
def set_rule(
    project: Project, *, days: int | None, by: str, agent: str = "", tag: str = "", reason: str = ""
) -> RetentionRule:
    """Keep the sessions of an agent, with a tag, both, or all of the project for that many days after their
    last activity; None keeps them permanently.

    A rule for the same agent and tag is replaced; an identical one stays as it is. Raises `InvalidInput` for
    fewer than `FLOOR_DAYS` days without a reason.
    """
    checked = _checked(days, agent, tag, reason)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    active = list(rules_of(project).filter(agent=agent, tag=tag))
    for each in active:
        if (each.days, each.reason) == (days, checked):
            return each
        remove_rule(each, by=by)
    made = RetentionRule.objects.create(
        project=project, agent=agent, tag=tag, days=days, reason=checked, set_by=by[:254], set_at=now()
    )
    _note(made, SET, by)
    return made


@transaction.atomic
def remove_rule(rule: RetentionRule, *, by: str) -> RetentionRule:
    """Remove a rule; it stays as history. Other rules decide about its sessions, and the rest is kept."""
    RetentionRule.objects.filter(pk=rule.pk, removed_at=None).update(removed_by=by[:254], removed_at=now())
    rule.refresh_from_db()
    _note(rule, REMOVED, by)
    return rule


def describe(rule: RetentionRule) -> str:
    """Return a rule in words: `sessions of agent planner with tag test: deleted after 30 days`."""
    of = f" of agent {rule.agent}" if rule.agent else ""
    with_tag = f" with tag {rule.tag}" if rule.tag else ""
    which = f"sessions{of}{with_tag}" if of or with_tag else "all other sessions"
    return f"{which}: " + (
        "kept permanently" if rule.days is None else f"deleted after {counted(rule.days, 'day')}"
    )


def describe_for_log(rule: RetentionRule) -> str:
    """Return the same without the names of agent and tag if the project's log must not store them."""
    text = describe(rule)
    try:
        return checked_reason(text)
    except InvalidInput:
        return describe(RetentionRule(agent=rule.agent and "…", tag=rule.tag and "…", days=rule.days))


def run_rules() -> list[UUID]:
    """Start what rules would delete now; return the deletions, for a worker. Safe to call twice."""
    active = RetentionRule.objects.filter(removed_at=None, days__isnull=False)
    rules = active.select_related("project").order_by("project", "id")
    return [made.id for rule in rules if (made := _run(rule)) is not None]


@transaction.atomic
def _run(rule: RetentionRule) -> BulkDeletion | None:
    """Start what a rule deletes now; None if that is nothing, or while its last deletion is running."""
    locked = RetentionRule.objects.select_for_update().filter(pk=rule.pk, removed_at=None).first()
    if locked is None or BulkDeletion.objects.filter(rule=locked).exclude(status__in=FINISHED).exists():
        return None
    RetentionRule.objects.filter(pk=locked.pk).update(ran_at=now())
    return start_for_rule(locked, due_by(locked, rules_of(locked.project)), describe_for_log(locked))


def _checked(days: int | None, agent: str, tag: str, reason: str) -> str:
    """Return the reason of a valid rule as it is stored."""
    checked = checked_reason(reason)
    _check(days, agent, tag)
    if is_early(days) and not checked:
        raise InvalidInput(
            f"{days} days is less than {FLOOR_DAYS} days: providers and deployers of high-risk AI systems must keep logs for at least six "
            "months (EU AI Act, Articles 19 and 26(6)). Give a reason for deleting these sessions earlier.",
            code="reason_missing",
            field="reason",
        )
    return checked


def _check(days: int | None, agent: str, tag: str) -> None:
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise InvalidInput(
            f"`days` must be a whole number from 1 to {LONGEST_DAYS:,}. Leave it out to keep sessions permanently.",
            code="invalid_field",
            field="days",
        )
    for field, value in (("agent", agent), ("tag", tag)):
        if len(value) > LONGEST:
            raise InvalidInput(
                f"`{field}` must have at most {LONGEST:,} characters.", code="invalid_field", field=field
            )


def _note(rule: RetentionRule, what: str, by: str) -> None:
    entry = {
        "entry": project_log.RETENTION,
        "id": str(rule.id),
        "what": what,
        "by": by,
        "rule": describe_for_log(rule),
    }
    project_log.append(rule.project, [entry | ({"reason": rule.reason} if rule.reason else {})])
    record(
        rule.project,
        "retention_rule.set" if what == SET else "retention_rule.removed",
        "retention_rule",
        rule.id,
        by=by,
        days=rule.days,
    )
