"""Rules that held: each kept once for a pattern and a window, and told to the address of the rule, where it has one.

What is told names the pattern and says how often it came; of what was recorded nothing leaves the server by this.
"""

import json
from collections.abc import Collection
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import F, QuerySet

from timemachine.core.leases import Lease, holding
from timemachine.core.pure.clock import now, written
from timemachine.llm.outbound_posts import Unreachable, post
from timemachine.memory.patterns.models import PatternAlert, PatternRule
from timemachine.memory.patterns.pure.windows import window_of

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


def find(project_id: UUID) -> int:
    """Keep which patterns come as often as a rule of the project says in its window of now; how many were not known yet."""
    return sum(find_by(rule) for rule in PatternRule.objects.filter(project=project_id))


def find_by(rule: PatternRule) -> int:
    """Keep which patterns come as often as this rule says in its window of now; how many were not known yet."""
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


def count_anew(project_id: UUID, wordings: Collection[UUID]) -> None:
    """Have the alerts of these wordings say in how many sessions of their window the pattern is now: some came, some were deleted."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"project": project_id, "wordings": list(wordings)})


def overdue() -> QuerySet[PatternAlert]:
    """Return the alerts that are to be reported to an address."""
    return PatternAlert.objects.filter(next_at__lte=now())


def tell(alert_id: UUID) -> None:
    """Report an alert to the address of its rule, once however many workers are to; what goes wrong is kept and tried again later."""
    with holding(overdue().filter(id=alert_id)) as lease:
        if lease is not None:
            _tell(lease)


def _tell(lease: Lease[PatternAlert]) -> None:
    alert = lease.row("rule", "pattern")
    wrong = _posted(alert.rule.url, json.dumps(told(alert)).encode())
    if wrong is None:
        lease.write(told_at=now(), problem=None, next_at=None)
        return
    last = alert.attempts + 1 >= MOST_ATTEMPTS
    next_at = None if last else now() + _wait(alert.attempts)
    lease.write(problem=wrong, attempts=F("attempts") + 1, next_at=next_at)


def told(alert: PatternAlert) -> dict[str, Any]:
    """What an address is told of an alert."""
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


def _posted(url: str, body: bytes) -> str | None:
    """What went wrong with telling; None where nothing did."""
    try:
        answer = post(url, body, "application/json")
    except Unreachable as why:
        return str(why)
    return None if answer.status in _TAKEN else answer.refusal


def _wait(attempts: int) -> timedelta:
    return min(timedelta(seconds=30 * (1 << min(attempts, 10))), LONGEST_WAIT)
