"""Change rules and alerts: create and delete a rule, dismiss an alert."""

from typing import Final
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.ids import uuid7
from timemachine.llm.outbound_posts import checked_address
from timemachine.memory.patterns import alerts
from timemachine.memory.patterns.models import (
    FEWEST_SESSIONS,
    MOST_SESSIONS,
    WINDOWS,
    PatternAlert,
    PatternRule,
)
from timemachine.memory.patterns.pure.step_texts import KINDS

MOST_RULES: Final = 20


def create_rule(
    project: Project,
    *,
    sessions: int,
    window: str,
    by: str,
    kind: str | None = None,
    url: str = "",
    rule_id: UUID | None = None,
) -> PatternRule:
    """Create a rule for patterns that occur in this many sessions of one day, week or month; `kind` is `error`,
    `question` or None for both.

    Patterns that already meet it in the current window raise an alert immediately. Repeating a `rule_id` (a form
    sent twice) returns the same rule. Raises `InvalidInput` for invalid values and for an address that may not
    be called, `Conflict` if the project has an equal rule (`rule_exists`) or `MOST_RULES` rules.
    """
    if not FEWEST_SESSIONS <= sessions <= MOST_SESSIONS:
        raise InvalidInput(
            f"`sessions` must be between {FEWEST_SESSIONS} and {MOST_SESSIONS:,}.",
            code="invalid_field",
            field="sessions",
        )
    if window not in WINDOWS:
        raise InvalidInput(
            f"`window` must be one of {', '.join(WINDOWS)}.", code="invalid_field", field="window"
        )
    if kind is not None and kind not in KINDS:
        raise InvalidInput(f"`kind` must be one of {', '.join(KINDS)}.", code="invalid_field", field="kind")
    address = checked_address("alert", url) if url.strip() else ""
    return _made(
        PatternRule(
            id=rule_id or uuid7(),
            project=project,
            kind=kind,
            sessions=sessions,
            window=window,
            url=address,
            created_by=by[:254],
        )
    )


@transaction.atomic
def _made(rule: PatternRule) -> PatternRule:
    Project.objects.select_for_update().get(pk=rule.project_id)
    there = PatternRule.objects.filter(project=rule.project_id)
    known = there.filter(id=rule.id).first()
    if known is not None:
        return known
    alike = there.filter(kind=rule.kind, sessions=rule.sessions, window=rule.window, url=rule.url)
    if alike.exists():
        raise Conflict("This project already has this rule.", code="rule_exists")
    if there.count() >= MOST_RULES:
        raise Conflict(
            f"This project has {MOST_RULES} rules, which is the maximum. Delete one first.",
            code="too_many_rules",
        )
    rule.save(force_insert=True)
    rule.refresh_from_db()
    alerts.raise_alerts_of_rule(rule)
    record(rule.project_id, "alert_rule.created", "alert_rule", rule.id, by=rule.created_by)
    return rule


def count_alerts(rule: PatternRule) -> int:
    """Return how many alerts a rule has raised."""
    return rule.alerts.count()


@transaction.atomic
def delete_rule(rule: PatternRule) -> None:
    """Delete a rule with its alerts."""
    record(rule.project_id, "alert_rule.deleted", "alert_rule", rule.pk)
    rule.delete()


def dismiss_alert(alert: PatternAlert, *, by: str) -> PatternAlert:
    """Dismiss an alert. The first person who dismissed it stays recorded."""
    PatternAlert.objects.filter(id=alert.id, seen_at=None).update(seen_at=now(), seen_by=by[:254])
    alert.refresh_from_db()
    return alert
