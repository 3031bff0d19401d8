"""Words that very many steps of a project hold. They are kept, for to count them at each question takes longer than all the rest of it.

A worker counts them in a part of the steps, when there are a quarter more than the last time. A word that is kept has surely so many
steps; one that is not may have, and is counted where it is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import connection

from timemachine.search.models import Indexing

MANY: Final = 2_000
"""A word that so many steps hold, or more, is common."""
_SURELY: Final = 1.5
"""A word of which a part shows so many times `MANY` has at least `MANY`."""
_MOST_PARTS: Final = 16
_PART: Final = 10_000
"""About so many steps are counted, and at least one of `_MOST_PARTS`: of fewer the part would show too little."""
_GROWN: Final = 1.25
_SHRUNK: Final = 0.75
_STEPS: Final = (
    "SELECT coalesce(sum(indexed_through), 0)::bigint FROM tm_indexed_session WHERE project_id = %s"
)
_COUNT: Final = """
SELECT word FROM tm_searched_action x CROSS JOIN LATERAL unnest(tsvector_to_array(x.words)) AS word
WHERE x.project_id = %(project)s AND x.action_id %% %(parts)s = 0
GROUP BY word HAVING count(*) >= %(least)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many steps of a project are indexed, and words of which it is known that `MANY` of them hold them."""

    steps: int
    common: Sequence[str]


def counted(project_id: UUID) -> Counted:
    """What is kept; no words where many steps went since. Two queries."""
    steps = _steps(project_id)
    kept = Indexing.objects.filter(project_id=project_id).values_list("common", "common_among").first()
    fits = kept is not None and steps >= kept[1] * _SHRUNK
    return Counted(steps=steps, common=kept[0] if kept and fits else ())


def count_anew(project_id: UUID) -> None:
    """Count the common words where there are many more steps, or many fewer, than when that was done last. By whoever indexes the project."""
    steps = _steps(project_id)
    row = Indexing.objects.get(project_id=project_id)
    if steps < MANY * _SURELY or row.common_among * _SHRUNK <= steps < row.common_among * _GROWN:
        return
    parts = min(_MOST_PARTS, max(1, steps // _PART))
    facts: dict[str, Any] = {"project": project_id, "parts": parts, "least": MANY * _SURELY / parts}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, facts)
        words = sorted(word for (word,) in cursor)
    Indexing.objects.filter(project_id=project_id).update(common=words, common_among=steps)


def _steps(project_id: UUID) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_STEPS, [project_id])
        return int(cursor.fetchone()[0])
