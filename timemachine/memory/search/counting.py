"""Words that many steps of a project hold. How many do is kept, for to count them at each question takes longer than all the rest of it.

A worker counts them when there are a quarter more steps than the last time; until then they are taken to become as many more as the steps.
What fewer steps hold, and what may be common or not, is counted where it is asked for. A trigger of the database deletes all that was kept of a project
in the transaction that erases or deletes something of it: nobody's word stays here, and they are counted again.
"""

from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from timemachine.knowledge import prepared_statements

MANY: Final = 2_000
"""A word that so many steps hold, or more, is common: how many more does not matter."""
_KEPT_FROM: Final = 200
"""So many steps are counted at a question in no time."""
_WORTH_COUNTING: Final = 10_000
"""In a project of fewer steps every word is counted in no time."""
_PART: Final = 200_000
"""Of more steps a part is counted, of about so many."""
_LEAST_OF_A_PART: Final = 25
"""What fewer steps of a part hold says too little of all of them."""
_GROWN: Final = 1.25
_SHRUNK: Final = 0.75
_ALL: Final = ""
"""Stands for the word of every step: how many steps there were. No stem is empty."""
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
"""How many steps hold a word, none where that is not kept, or may be on either side of `MANY`; `grown` is that of `steps_of`."""


def steps_of(project_id: UUID) -> tuple[int, float | None]:
    """How many steps of the project are indexed, and how many times those that were counted that is; None where that says nothing of its words. One query."""
    steps, among = _steps(project_id)
    return steps, steps / among if among and steps >= among * _SHRUNK else None


@transaction.atomic
def count_anew(project_id: UUID) -> None:
    """Count the words where there are many more steps, or many fewer, than when that was done last, unless somebody is at it or erases something."""
    with connection.cursor() as cursor:
        cursor.execute(_ALONE, {"project": project_id})
        if not cursor.fetchone()[0]:
            return
        steps, among = _steps(project_id)
        if steps < _WORTH_COUNTING or among * _SHRUNK <= steps < among * _GROWN:
            return
        parts = 1 + steps // _PART
        least = _KEPT_FROM if parts == 1 else max(_LEAST_OF_A_PART, _KEPT_FROM / parts)
        facts: dict[str, Any] = {"project": project_id, "parts": parts, "least": least, "steps": steps}
        cursor.execute("DELETE FROM tm_counted_word WHERE project_id = %(project)s", facts)
        cursor.execute(_COUNT, facts)


def _steps(project_id: UUID) -> tuple[int, int]:
    steps, among = prepared_statements.rows(_STEPS, {"project": project_id})[0]
    return int(steps), among or 0
