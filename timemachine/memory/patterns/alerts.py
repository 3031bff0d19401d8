"""Alerts: rules that were met. Each is stored once per pattern and window, and reported to the address of the rule
if it has one.

A report names the pattern and how often it occurred. It contains nothing else of the recorded sessions.
"""

import json
from collections.abc import Collection
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import F, QuerySet

from timemachine.core.leases import Lease, holding
from timemachine.core.pure.clock import now, written
from timemachine.llm.outbound_posts import Unreachable, post
from timemachine.memory.patterns.models import PatternAlert, PatternRule
from timemachine.memory.patterns.pure.trend import window_of

LONGEST_WAIT: Final = timedelta(hours=1)
MOST_ATTEMPTS: Final = 30
_TAKEN: Final = range(200, 300)
_HOLDING: Final = """
SELECT w.pattern_id, count(DISTINCT s.session_id)
FROM tm_pattern_step s JOIN tm_wording w ON w.id = s.wording_id
WHERE s.project_id = %(project)s AND s.at >= %(since)s AND s.at < %(until)s AND w.pattern_id IS NOT NULL
AND (%(kind)s::text IS NULL OR w.kind = %(kind)s)
AND NOT EXISTS (
    SELECT FROM tm_pattern_alert a JOIN tm_wording told ON told.id = a.pattern_id
    WHERE a.rule_id = %(rule)s AND a.since = %(since)s AND told.pattern_id = w.pattern_id
)
GROUP BY w.pattern_id HAVING count(DISTINCT s.session_id) >= %(sessions)s
"""
_COUNT: Final = """
UPDATE tm_pattern_alert AS counted SET sessions = found.sessions
FROM (
    SELECT a.id, count(DISTINCT s.session_id) AS sessions
    FROM tm_pattern_alert a JOIN tm_pattern_rule r ON r.id = a.rule_id JOIN tm_wording told ON told.id = a.pattern_id
    JOIN tm_wording w ON w.pattern_id = told.pattern_id
    LEFT JOIN tm_pattern_step s
        ON s.wording_id = w.id AND s.at >= a.since AND s.at < a.since + ('1 ' || r."window")::interval
    WHERE a.project_id = %(project)s
    AND told.pattern_id IN (SELECT pattern_id FROM tm_wording WHERE id = ANY(%(wordings)s))
    GROUP BY a.id
) AS found
WHERE counted.id = found.id AND counted.sessions <> found.sessions
"""


def raise_alerts(project_id: UUID) -> int:
    """Store alerts for patterns that meet a rule of the project in its current window. Return how many are new."""
    return sum(raise_alerts_of_rule(rule) for rule in PatternRule.objects.filter(project=project_id))


def raise_alerts_of_rule(rule: PatternRule) -> int:
    """Store alerts for patterns that meet this rule in its current window. Return how many are new."""
    moment = now()
    since, until = window_of(moment, rule.window)
    facts = {
        "project": rule.project_id,
        "rule": rule.id,
        "kind": rule.kind,
        "sessions": rule.sessions,
        "since": since,
        "until": until,
    }
    with connection.cursor() as cursor:
        cursor.execute(_HOLDING, facts)
        holding = cursor.fetchall()
    made = [
        PatternAlert(
            project_id=rule.project_id,
            rule=rule,
            pattern_id=pattern,
            since=since,
            sessions=sessions,
            found_at=moment,
            next_at=moment if rule.url else None,
        )
        for pattern, sessions in holding
    ]
    PatternAlert.objects.bulk_create(made, ignore_conflicts=True)
    return len(made)


def update_alert_counts(project_id: UUID, wordings: Collection[UUID]) -> None:
    """Update the number of sessions in the alerts of these wordings, after sessions were added or deleted."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"project": project_id, "wordings": list(wordings)})


def overdue() -> QuerySet[PatternAlert]:
    """Return the alerts that are to be reported to an address."""
    return PatternAlert.objects.filter(next_at__lte=now())


def deliver_alert(alert_id: UUID) -> None:
    """Report an alert to the address of its rule, once even with several workers. Errors are stored, and the
    report is retried later.
    """
    with holding(overdue().filter(id=alert_id)) as lease:
        if lease is not None:
            _tell(lease)


def _tell(lease: Lease[PatternAlert]) -> None:
    alert = lease.row("rule", "pattern")
    wrong = _post(alert.rule.url, json.dumps(alert_report(alert)).encode())
    if wrong is None:
        lease.write(told_at=now(), problem=None, next_at=None)
        return
    last = alert.attempts + 1 >= MOST_ATTEMPTS
    next_at = None if last else now() + _wait(alert.attempts)
    lease.write(problem=wrong, attempts=F("attempts") + 1, next_at=next_at)


def alert_report(alert: PatternAlert) -> dict[str, object]:
    """Return the JSON object that is sent to the address."""
    pattern = alert.pattern.pattern_id or alert.pattern_id
    return {
        "event": "pattern_again",
        "alert": str(alert.id),
        "pattern": str(pattern),
        "kind": alert.pattern.kind,
        "sessions": alert.sessions,
        "rule": {"id": str(alert.rule_id), "sessions": alert.rule.sessions, "window": alert.rule.window},
        "since": written(alert.since),
        "found_at": written(alert.found_at),
        "url": f"{settings.PUBLIC_URL}/patterns/{pattern}/",
    }


def _post(url: str, body: bytes) -> str | None:
    """Send the report. Return what went wrong, or None."""
    try:
        answer = post(url, body, "application/json")
    except Unreachable as why:
        return str(why)
    return None if answer.status in _TAKEN else answer.refusal


def _wait(attempts: int) -> timedelta:
    return min(timedelta(seconds=30 * (1 << min(attempts, 10))), LONGEST_WAIT)
