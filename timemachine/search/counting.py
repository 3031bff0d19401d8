"""Words that many steps of a project hold. How many do is kept, for to count them at each question takes longer than all the rest of it.

A worker counts them when there are a quarter more steps than the last time; until then they are taken to become as many more as the steps.
What fewer steps hold is counted where it is asked for.
"""

from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from timemachine.search.models import Indexing

MANY: Final = 2_000
"""A word that so many steps hold, or more, is common: how many more does not matter."""
_KEPT_FROM: Final = 200
"""So many steps are counted at a question in no time."""
_WORTH_COUNTING: Final = 10_000
"""In a project of fewer steps every word is counted in no time."""
_PART: Final = 200_000
"""Of more steps a part is counted, of about so many."""
_GROWN: Final = 1.25
_SHRUNK: Final = 0.75
_STEPS: Final = """
SELECT coalesce(sum(indexed_through), 0)::bigint, (SELECT counted_among FROM tm_indexing WHERE project_id = %(project)s)
FROM tm_indexed_session WHERE project_id = %(project)s
"""
_COUNT: Final = """
INSERT INTO tm_counted_word (project_id, word, steps)
SELECT x.project_id, word, count(*) * %(parts)s
FROM tm_searched_action x CROSS JOIN LATERAL unnest(tsvector_to_array(x.words)) AS word
WHERE x.project_id = %(project)s AND x.action_id %% %(parts)s = 0
GROUP BY x.project_id, word HAVING count(*) >= %(least)s
"""
STEPS_WITH: Final = """
SELECT (k.steps * %(grown)s::float8)::bigint FROM tm_counted_word k WHERE k.project_id = %(project)s AND k.word = {0}
"""
"""How many steps hold a word, none where that is not kept; `grown` is that of `steps_of`."""


def steps_of(project_id: UUID) -> tuple[int, float | None]:
    """How many steps of the project are indexed, and how many times those that were counted that is; None where that says nothing of its words. One query."""
    steps, among = _steps(project_id)
    return steps, steps / among if among and steps >= among * _SHRUNK else None


@transaction.atomic
def count_anew(project_id: UUID) -> None:
    """Count the words where there are many more steps, or many fewer, than when that was done last. By whoever indexes the project."""
    steps, among = _steps(project_id)
    if steps < _WORTH_COUNTING or among * _SHRUNK <= steps < among * _GROWN:
        return
    parts = 1 + steps // _PART
    facts: dict[str, Any] = {"project": project_id, "parts": parts, "least": _KEPT_FROM / parts}
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM tm_counted_word WHERE project_id = %(project)s", facts)
        cursor.execute(_COUNT, facts)
    Indexing.objects.filter(project_id=project_id).update(counted_among=steps)


def _steps(project_id: UUID) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(_STEPS, {"project": project_id})
        steps, among = cursor.fetchone()
        return int(steps), among or 0
