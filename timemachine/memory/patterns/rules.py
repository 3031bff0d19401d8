"""What changes in rules and in what they found: one is made, one is taken away, an alert is put aside."""

from typing import Final
from uuid import UUID

from django.db import transaction

from timemachine.core.accounts.models import Project
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


def make_rule(
    project: Project,
    *,
    sessions: int,
    window: str,
    by: str,
    kind: str | None = None,
    url: str = "",
    rule_id: UUID | None = None,
) -> PatternRule:
    """Watch for patterns that come again in so many sessions of one day, week or month; `kind` is `error`, `question` or both.

    What came so often in this window already is found at once.
    The same `rule_id` a second time (a form sent twice) is the same rule. Raises `InvalidInput` for what cannot be watched for and for an address that
    may not be called, `Conflict` for a rule that says what another does (`rule_exists`) and where the project has `MOST_RULES`.
    """
    if not FEWEST_SESSIONS <= sessions <= MOST_SESSIONS:
        raise InvalidInput(
            f"A pattern is watched for from {FEWEST_SESSIONS} sessions on, up to {MOST_SESSIONS:,}.",
            code="invalid_field",
            field="sessions",
        )
    if window not in WINDOWS:
        raise InvalidInput(f"`window` is one of {', '.join(WINDOWS)}.", code="invalid_field", field="window")
    if kind is not None and kind not in KINDS:
        raise InvalidInput(f"`kind` is one of {', '.join(KINDS)}.", code="invalid_field", field="kind")
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
        raise Conflict("This project has this rule already.", code="rule_exists")
    if there.count() >= MOST_RULES:
        raise Conflict(
            f"This project has {MOST_RULES} rules, which is all it can have; delete one first.",
            code="too_many_rules",
        )
    rule.save(force_insert=True)
    rule.refresh_from_db()
    alerts.find_by(rule)
    return rule


def found_by(rule: PatternRule) -> int:
    """How many patterns a rule found."""
    return rule.alerts.count()


def delete_rule(rule: PatternRule) -> None:
    """Take a rule away, with what it found."""
    rule.delete()


def put_aside(alert: PatternAlert, *, by: str) -> PatternAlert:
    """Say that somebody has seen an alert: it is no mark any more. Who was first stays."""
    PatternAlert.objects.filter(id=alert.id, seen_at=None).update(seen_at=now(), seen_by=by[:254])
    alert.refresh_from_db()
    return alert
