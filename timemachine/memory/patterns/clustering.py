"""Group wordings into patterns, update the counts of those that changed, and check the rules."""

from collections import defaultdict
from collections.abc import Collection
from typing import Final
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.db.models import Q

from timemachine.core.leases import holding
from timemachine.memory.backlog import TURN_SECONDS
from timemachine.memory.patterns import alerts
from timemachine.memory.patterns.models import PatternReading
from timemachine.memory.patterns.models import Wording as KeptWording
from timemachine.memory.patterns.pure.grouping import grouped
from timemachine.memory.patterns.pure.step_texts import KINDS
from timemachine.memory.patterns.pure.wording import Wording
from timemachine.memory.patterns.reader import lock_project, read_new_steps

_COUNT: Final = """
UPDATE tm_wording AS counted
SET sessions = found.sessions, steps = found.steps, solved = found.solved, undated = found.undated,
    first_at = found.first_at, last_at = found.last_at
FROM (
    SELECT w.id, count(DISTINCT s.session_id) AS sessions, count(s.action_id) AS steps,
           count(DISTINCT s.session_id) FILTER (WHERE s.solved_by IS NOT NULL) AS solved,
           count(s.action_id) FILTER (WHERE s.at IS NULL) AS undated, min(s.at) AS first_at, max(s.at) AS last_at
    FROM tm_wording w LEFT JOIN tm_wording m ON m.pattern_id = w.id LEFT JOIN tm_pattern_step s ON s.wording_id = m.id
    WHERE w.id = ANY(%(wordings)s) GROUP BY w.id
) AS found
WHERE counted.id = found.id
"""


def update_patterns(project_id: UUID, seconds: float = TURN_SECONDS) -> bool:
    """Read new steps of the project and group them for about that many seconds. Return True if there is more to do
    now.

    Safe to run twice, concurrently, and to be killed at any time.
    """
    more = False
    with holding(PatternReading.of([project_id])) as lease:
        if lease is not None:
            more = read_new_steps(project_id, seconds)
            if group_and_count(project_id):
                alerts.raise_alerts(project_id)
    return more


def group_and_count(project_id: UUID) -> bool:
    """Group new wordings and update counts. Return False if there was nothing to do or an erasure holds the
    project.
    """
    unsettled = KeptWording.objects.filter(Q(stale=True) | Q(pattern=None), project=project_id)
    try:
        with transaction.atomic():
            lock_project(project_id)
            rows = list(unsettled.values_list("id", "kind", "pattern_id"))
            changed = {row for row, _, _ in rows} | {pattern for _, _, pattern in rows if pattern}
            anew = PatternReading.objects.filter(project=project_id, regroup=True).update(regroup=False)
            for kind in KINDS:
                if anew or any(each == kind and pattern is None for _, each, pattern in rows):
                    changed |= _group(project_id, kind)
            _count(project_id, changed)
            alerts.update_alert_counts(project_id, changed)
    except OperationalError:
        return False
    return bool(rows or anew)


def _group(project_id: UUID, kind: str) -> set[UUID]:
    """Assign every wording of a kind to its pattern. Return the patterns that wordings moved from and to, with
    those wordings.
    """
    rows = KeptWording.objects.filter(project=project_id, kind=kind)
    wordings = list(rows.values_list("id", "pattern_id", "text", "words"))
    found = grouped({row: Wording(text=text, words=tuple(words)) for row, _, text, words in wordings})
    moved = [(row, before) for row, before, *_ in wordings if found[row] != before]
    joined: dict[UUID, list[UUID]] = defaultdict(list)
    for row, _ in moved:
        joined[found[row]].append(row)
    for pattern, members in joined.items():
        KeptWording.objects.filter(id__in=members).update(pattern=pattern)
    return {each for row, before in moved for each in (row, before, found[row]) if each is not None}


def _count(project_id: UUID, wordings: Collection[UUID]) -> None:
    """Update the counts of these wordings and of their patterns."""
    rows = KeptWording.objects.filter(project=project_id, id__in=wordings)
    ids = {each for both in rows.values_list("id", "pattern_id") for each in both if each}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"wordings": list(ids)})
    KeptWording.objects.filter(project=project_id, id__in=wordings).update(stale=False)
