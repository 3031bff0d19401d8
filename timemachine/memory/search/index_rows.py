"""Index rows: steps in few bytes each, for questions that scan very many of them. Copied steps have none."""

import math
from collections.abc import Sequence
from typing import Final

from django.db import connection

from timemachine.recording.sessions.queries import HAPPENED_HERE_SQL, TIME_SQL

DIMENSIONS: Final = 64
"""How many dimensions of a vector an index row has; the model was trained so that its first 64 carry the most
information.
"""
_PLAIN: Final = "action_id, project_id, session_id, sequence, at, kind, significance, worth, agent, tags"
INDEX_ROW: Final = f"""
SELECT a.id AS action_id, a.project_id, a.session_id, a.sequence, {TIME_SQL} AS at, a.kind,
       a.significance, tm_importance(NULL, NULL, a.importance, a.significance, false) AS worth, a.agent,
       CASE WHEN cardinality(a.tags) > 0 THEN a.tags END AS tags
"""
"""The index row of a step of `tm_action a` in `tm_session s`, without its vector."""
_KEEP: Final = f"""
INSERT INTO tm_action_sketch ({_PLAIN}, vector)
{INDEX_ROW}, l2_normalize(subvector(m.vector, 1, {DIMENSIONS}))
FROM tm_action a JOIN tm_session s ON s.id = a.session_id LEFT JOIN tm_action_meaning m ON m.action_id = a.id
WHERE a.id = ANY(%s) AND {HAPPENED_HERE_SQL}
ON CONFLICT (action_id) DO NOTHING
"""  # constants of this file
EVERY_STEP: Final = f"""(
    SELECT {_PLAIN} FROM tm_action_sketch
    UNION ALL
    {INDEX_ROW}
    FROM tm_session s LEFT JOIN tm_indexed_session i ON i.session_id = s.id
    JOIN tm_action a ON a.session_id = s.id AND a.sequence > coalesce(i.indexed_through, 0) AND {HAPPENED_HERE_SQL}
    WHERE s.project_id = %(project)s AND s.last_sequence > coalesce(i.indexed_through, 0)
)"""  # noqa: S608
"""The index rows of all steps of the project, also of those that are not indexed yet; without vectors."""


def store_index_rows(actions: Sequence[int]) -> None:
    """Store index rows of these steps, in the transaction that stores their words and vectors. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP, [list(actions)])


def leading_dimensions(vector: Sequence[float]) -> list[float]:
    """Return the first dimensions of a vector, scaled to length 1, to compare with those of index rows."""
    first = vector[:DIMENSIONS]
    length = math.hypot(*first) or 1.0
    return [each / length for each in first]
