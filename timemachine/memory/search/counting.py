"""Words that occur in many steps of a project, with stored counts, because counting them for each question takes
most of its time.

A worker counts again when the number of steps has grown by a quarter; until then counts are scaled with the
number of steps. Rarer words, and words near the limit of common ones, are counted on demand. A trigger deletes
the counts of a project in the transaction that erases or deletes some of its steps, so that no erased word
stays here; then they are counted again.
"""

from typing import Final
from uuid import UUID

from django.db import connection, transaction

from timemachine.core import prepared_statements
from timemachine.core.database import SqlParameters

MANY: Final = 2_000
"""A word in this many steps or more is common; the exact number does not matter."""
_CACHED_FROM: Final = 200
"""Words in fewer steps are quickly counted on demand."""
_WORTH_COUNTING: Final = 10_000
"""In a project with fewer steps, every word is quickly counted on demand."""
_PART: Final = 200_000
"""In a larger project a sample of about this many steps is counted."""
_LEAST_OF_A_PART: Final = 25
"""A count in a sample below this is too small to be scaled."""
_GROWN: Final = 1.25
_SHRUNK: Final = 0.75
_ALL: Final = ""
"""Stands for the total number of steps. No stem is empty."""
_ALONE: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended('counted words ' || %(project)s::uuid, 0))"
_STEPS: Final = f"""
SELECT coalesce(sum(indexed_through), 0)::bigint,
       (SELECT steps FROM tm_counted_word WHERE project_id = %(project)s AND word = '{_ALL}')
FROM tm_indexed_session WHERE project_id = %(project)s
"""  # noqa: S608  # constants of this file
_COUNT: Final = f"""
INSERT INTO tm_counted_word (project_id, word, steps)
SELECT x.project_id, word, count(*) * %(parts)s
FROM tm_searched_action x CROSS JOIN LATERAL unnest(tsvector_to_array(x.words)) AS word
WHERE x.project_id = %(project)s AND (hashint8(x.action_id) & 2147483647) %% %(parts)s = 0
GROUP BY x.project_id, word HAVING count(*) >= %(least)s
UNION ALL SELECT %(project)s, '{_ALL}', %(steps)s
"""  # noqa: S608  # constants of this file
STEPS_WITH: Final = f"""
SELECT (k.steps * %(grown)s::float8)::bigint FROM tm_counted_word k
WHERE k.project_id = %(project)s AND k.word = {{0}}
AND k.steps * %(grown)s::float8 NOT BETWEEN {MANY * _SHRUNK} AND {MANY * _GROWN}
"""  # noqa: S608  # constants of this file
"""The number of steps with a word; no row if it is not stored or may be on either side of `MANY`. `grown` is from
`steps_of`.
"""


def indexed_steps(project_id: UUID) -> tuple[int, float | None]:
    """Return the number of indexed steps of the project, and its ratio to the number when words were last counted.

    The ratio is None if the stored counts do not apply. One query.
    """
    steps, among = _steps(project_id)
    return steps, steps / among if among and steps >= among * _SHRUNK else None


@transaction.atomic
def update_word_counts(project_id: UUID) -> None:
    """Count the words if the number of steps has changed much since the last count, unless another process counts
    or erases.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ALONE, {"project": project_id})
        if not cursor.fetchone()[0]:
            return
        steps, among = _steps(project_id)
        if steps < _WORTH_COUNTING or among * _SHRUNK <= steps < among * _GROWN:
            return
        parts = 1 + steps // _PART
        least = _CACHED_FROM if parts == 1 else max(_LEAST_OF_A_PART, _CACHED_FROM / parts)
        facts: SqlParameters = {"project": project_id, "parts": parts, "least": least, "steps": steps}
        cursor.execute("DELETE FROM tm_counted_word WHERE project_id = %(project)s", facts)
        cursor.execute(_COUNT, facts)


def _steps(project_id: UUID) -> tuple[int, int]:
    steps, among = prepared_statements.fetch_rows(_STEPS, {"project": project_id})[0]
    return int(steps), among or 0
