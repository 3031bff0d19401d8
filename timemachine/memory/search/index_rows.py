"""Steps in few bytes each, beside their words and vectors: what a question to very many of them looks at."""

from collections.abc import Sequence
from typing import Final

from django.db import connection

DIMENSIONS: Final = 64
"""How many dimensions of a vector a sketch has: the model was trained so that its first 64 say most."""
_PLAIN: Final = "action_id, project_id, session_id, sequence, at, kind, significance, worth, agent, tags"
MADE: Final = """
SELECT a.id AS action_id, a.project_id, a.session_id, a.sequence, coalesce(a.started_at, a.recorded_at) AS at, a.kind,
       a.significance, tm_importance(NULL, NULL, a.importance, a.significance, false) AS worth, a.agent,
       CASE WHEN cardinality(a.tags) > 0 THEN a.tags END AS tags
"""
"""The sketch of a step of `tm_action a`, without its vector."""
_KEEP: Final = f"""
INSERT INTO tm_action_sketch ({_PLAIN}, vector)
{MADE}, l2_normalize(subvector(m.vector, 1, {DIMENSIONS}))
FROM tm_action a LEFT JOIN tm_action_meaning m ON m.action_id = a.id
WHERE a.id = ANY(%s)
ON CONFLICT (action_id) DO NOTHING
"""  # constants of this file
EVERY_STEP: Final = f"""(
    SELECT {_PLAIN} FROM tm_action_sketch
    UNION ALL
    {MADE}
    FROM tm_session s LEFT JOIN tm_indexed_session i ON i.session_id = s.id
    JOIN tm_action a ON a.session_id = s.id AND a.sequence > coalesce(i.indexed_through, 0)
    WHERE s.project_id = %(project)s AND s.last_sequence > coalesce(i.indexed_through, 0)
)"""  # noqa: S608
"""The sketches of all steps, those of the project that are still to be indexed among them; without vectors."""


def keep(actions: Sequence[int]) -> None:
    """Keep sketches of these steps, as they and their vectors stand; in the transaction that keeps those. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP, [list(actions)])
