"""The activity of sessions for sparklines: the number of steps in each fortieth of their time, and where errors were."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from timemachine.recording.sessions.models import Session
from timemachine.recording.usage.models import BIN

COLUMNS: Final = 40
MOST_READ: Final = 400
"""Up to this many steps of a session are read individually; for longer ones the counts per hundred steps are used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """The number of steps in each of `COLUMNS` equal parts of a session's time, and whether one of them failed.

    Without recorded times, or if all are equal, the parts are of its sequence and `over_time` is false. A step
    without a time, or that was copied from another session, counts with the one before it. In a long session a hundred steps are spread evenly between their
    first start and last end, and an error may be anywhere among them.
    """

    steps: list[float]
    failed: list[bool]
    over_time: bool


_ACTIVITY: Final = f"""
WITH part AS (
    SELECT session_id, (sequence - 1)::float AS begins, sequence::float AS ends, 1::float AS steps,
        copied_from IS NULL AND (error_type IS NOT NULL OR error_message IS NOT NULL) AS failed,
        at AS first, at AS last
    FROM tm_action CROSS JOIN LATERAL (
        SELECT CASE WHEN copied_from IS NULL THEN date_part('epoch', started_at) END AS at
    ) AS timed WHERE session_id = ANY(%(short)s)
    UNION ALL
    SELECT session_id, bin * {BIN}::float, bin * {BIN} + sum(number::float), sum(number::float), max(errors) > 0,
        date_part('epoch', min(first)), date_part('epoch', max(last))
    FROM tm_bin WHERE session_id = ANY(%(long)s) GROUP BY session_id, bin
), whole AS (
    SELECT session_id, min(first) AS since, nullif(max(last) - min(first), 0) AS took, max(ends) AS all_steps
    FROM part GROUP BY session_id
), timed AS (
    SELECT part.*, since, took, all_steps,
        coalesce(first, max(last) OVER so_far, since) AS at, coalesce(last, max(last) OVER so_far, since) AS up_to
    FROM part JOIN whole USING (session_id)
    WINDOW so_far AS (PARTITION BY session_id ORDER BY begins)
), placed AS (
    SELECT session_id, steps, failed, took IS NOT NULL AS over_time,
        least({COLUMNS} - 1, floor({COLUMNS} * coalesce((at - since) / took, begins / all_steps)))::int AS one,
        least({COLUMNS} - 1, floor({COLUMNS} * coalesce(
            (up_to - since) / took, CASE WHEN steps = 1 THEN begins ELSE ends - 1e-6 END / all_steps)))::int AS other
    FROM timed
)
SELECT session_id, over_time, here, sum(steps / (other - one + 1)), bool_or(failed)
FROM placed, generate_series(one, other) AS here
GROUP BY session_id, over_time, here
"""  # noqa: S608  # constants of this file


def activity_of(sessions: Sequence[Session]) -> dict[UUID, Activity]:
    """Return the activity of each session that has steps. One query for any number of them."""
    parameters = {
        "short": [each.id for each in sessions if each.last_sequence <= MOST_READ],
        "long": [each.id for each in sessions if each.last_sequence > MOST_READ],
    }
    found: dict[UUID, Activity] = {}
    with connection.cursor() as cursor:
        cursor.execute(_ACTIVITY, parameters)
        for session, over_time, column, steps, failed in cursor:
            if session not in found:
                found[session] = Activity(
                    steps=[0.0] * COLUMNS, failed=[False] * COLUMNS, over_time=over_time
                )
            found[session].steps[column] = steps
            found[session].failed[column] = failed
    return found
