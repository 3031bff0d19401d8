"""Retention rules: how long sessions are kept. By default all are kept for good; a rule that deletes early needs a reason."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.numbers import counted
from timemachine.evidence.log import project_log
from timemachine.evidence.pure.reason import checked_reason
from timemachine.governance.deletion.retention.commands import begin_by_rule
from timemachine.governance.deletion.retention.models import OVER, Forgetting, RetentionRule
from timemachine.governance.deletion.retention.queries import Amount, amount_of, due_by, first_due, rules_of
from timemachine.governance.deletion.retention.session_filter import LONGEST, LONGEST_DAYS

FLOOR_DAYS: Final = 183
"""Six months: providers and deployers of high-risk systems keep logs at least so long (EU AI Act, Articles 19 and 26(6))."""
SET, REMOVED = "set", "removed"


def is_early(days: int | None) -> bool:
    """Whether so many days are fewer than six months."""
    return days is not None and days < FLOOR_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a rule that is not set yet would do: `due` would go at once, the `first` that is not held then; it takes the place of `replaced`."""

    rule: RetentionRule
    due: Amount
    first: datetime | None
    replaced: RetentionRule | None


def preview(
    project: Project, *, days: int | None, agent: str = "", tag: str = "", reason: str | None = None
) -> Preview:
    """What `set_rule` with the same would do; raises as it, but for a reason that is None."""
    if reason is None:
        _check(days, agent, tag)
    else:
        reason = _checked(days, agent, tag, reason)
    rule = RetentionRule(project=project, agent=agent, tag=tag, days=days, reason=reason or "")
    standing = list(rules_of(project))
    others = [each for each in standing if (each.agent, each.tag) != (agent, tag)]
    return Preview(
        rule=rule,
        due=amount_of(due_by(rule, others)),
        first=first_due(rule, others),
        replaced=next((each for each in standing if each not in others), None),
    )


@transaction.atomic
def set_rule(
    project: Project, *, days: int | None, by: str, agent: str = "", tag: str = "", reason: str = ""
) -> RetentionRule:
    """Keep the sessions of an agent, with a tag, both, or all of the project for so many days after the last that was recorded in them; None for good.

    A rule for the same agent and tag is replaced; one that says the very same, with the same reason, stays as it is. Raises `InvalidInput` for fewer than `FLOOR_DAYS` days without a reason.
    """
    said = _checked(days, agent, tag, reason)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    standing = list(rules_of(project).filter(agent=agent, tag=tag))
    for each in standing:
        if (each.days, each.reason) == (days, said):
            return each
        remove_rule(each, by=by)
    made = RetentionRule.objects.create(
        project=project, agent=agent, tag=tag, days=days, reason=said, set_by=by[:254], set_at=now()
    )
    _note(made, SET, by)
    return made


@transaction.atomic
def remove_rule(rule: RetentionRule, *, by: str) -> RetentionRule:
    """Take a rule away; that it was there stays. What another rule covers is that one's from then on, and the rest is kept."""
    RetentionRule.objects.filter(pk=rule.pk, removed_at=None).update(removed_by=by[:254], removed_at=now())
    rule.refresh_from_db()
    _note(rule, REMOVED, by)
    return rule


def words_of(rule: RetentionRule) -> str:
    """What a rule says: `sessions of agent planner with tag test: deleted after 30 days`."""
    of = f" of agent {rule.agent}" if rule.agent else ""
    with_tag = f" with tag {rule.tag}" if rule.tag else ""
    which = f"sessions{of}{with_tag}" if of or with_tag else "all other sessions"
    return f"{which}: " + (
        "kept for good" if rule.days is None else f"deleted after {counted(rule.days, 'day')}"
    )


def loggable_words_of(rule: RetentionRule) -> str:
    """The same without the names of agent and tag where the log, which keeps it for good, must not hold them."""
    words = words_of(rule)
    try:
        return checked_reason(words)
    except InvalidInput:
        return words_of(RetentionRule(agent=rule.agent and "…", tag=rule.tag and "…", days=rule.days))


def run_rules() -> list[UUID]:
    """Begin what rules would delete now, of every project; the deletions that have begun, for a worker. Safe to do twice."""
    active = RetentionRule.objects.filter(removed_at=None, days__isnull=False)
    rules = active.select_related("project").order_by("project", "id")
    return [made.id for rule in rules if (made := _run(rule)) is not None]


@transaction.atomic
def _run(rule: RetentionRule) -> Forgetting | None:
    """What a rule deletes now; None for nothing, or while the last of it is under way."""
    locked = RetentionRule.objects.select_for_update().filter(pk=rule.pk, removed_at=None).first()
    if locked is None or Forgetting.objects.filter(rule=locked).exclude(status__in=OVER).exists():
        return None
    RetentionRule.objects.filter(pk=locked.pk).update(ran_at=now())
    return begin_by_rule(locked, due_by(locked, rules_of(locked.project)), loggable_words_of(locked))


def _checked(days: int | None, agent: str, tag: str, reason: str) -> str:
    """The reason as it is kept, of a rule that can be set."""
    said = checked_reason(reason)
    _check(days, agent, tag)
    if is_early(days) and not said:
        raise InvalidInput(
            f"{days} days are fewer than {FLOOR_DAYS}: providers and deployers of high-risk AI systems have to keep logs for at least six "
            "months (EU AI Act, Articles 19 and 26(6)). Give a reason why these may go earlier.",
            code="reason_missing",
            field="reason",
        )
    return said


def _check(days: int | None, agent: str, tag: str) -> None:
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise InvalidInput(
            f"`days` is a whole number from 1 to {LONGEST_DAYS:,}; leave it out to keep for good.",
            code="invalid_field",
            field="days",
        )
    for field, value in (("agent", agent), ("tag", tag)):
        if len(value) > LONGEST:
            raise InvalidInput(
                f"`{field}` has at most {LONGEST:,} characters.", code="invalid_field", field=field
            )


def _note(rule: RetentionRule, what: str, by: str) -> None:
    told = {
        "entry": project_log.RETENTION,
        "id": str(rule.id),
        "what": what,
        "by": by,
        "rule": loggable_words_of(rule),
    }
    project_log.append(rule.project, [told | ({"reason": rule.reason} if rule.reason else {})])
