"""The outcomes of recalled turns: the next solution, breakthrough and decision in the same session."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.memory.search.index_rows import INDEX_ROW
from timemachine.memory.search.recall.conditions import JOIN_SIGNIFICANCE, step_scope
from timemachine.memory.search.recall.queries import RecalledTurn
from timemachine.memory.search.recall.questions import RecallOptions
from timemachine.recording.sessions.queries import HAPPENED_HERE_SQL

SOLUTION: Final = "solution"
OUTCOMES: Final = (SOLUTION, "breakthrough", "decision")
"""The significances of outcomes, most important first."""
REACH: Final = 1_000
"""How many steps after a turn are read."""
MOST: Final = 50
"""For how many of the best turns outcomes are looked up."""
_BEHIND: Final = f"""
SELECT DISTINCT ON (place.session, place.sequence, coalesce(now.significance, x.significance))
       place.session, place.sequence, coalesce(now.significance, x.significance), x.sequence
FROM unnest(%(sessions)s::uuid[], %(sequences)s::bigint[]) AS place(session, sequence)
CROSS JOIN LATERAL (
    {INDEX_ROW} FROM tm_action a JOIN tm_session s ON s.id = a.session_id WHERE a.session_id = place.session AND a.sequence > place.sequence AND a.sequence <= place.sequence + {REACH} AND {HAPPENED_HERE_SQL}
    ORDER BY a.sequence LIMIT {REACH}
) AS x {JOIN_SIGNIFICANCE}
WHERE {{among}} AND coalesce(now.significance, x.significance) = ANY(%(outcomes)s::text[]) AND NOT EXISTS (
    SELECT FROM tm_erased_turn gone WHERE gone.session_id = x.session_id AND gone.sequence = x.sequence
)
ORDER BY place.session, place.sequence, coalesce(now.significance, x.significance), x.sequence
"""  # noqa: S608  # constants

type Place = tuple[UUID, int]
type Outcomes = Mapping[Place, Mapping[str, Place]]


def outcomes_of(project: Project, recalled: Sequence[RecalledTurn], options: RecallOptions) -> Outcomes:
    """Return the first step of each of `OUTCOMES` after each of the best turns, by the turn's session and step.

    Outcomes are in order of importance; a turn that is a solution has none. They must match the filters of the
    question, but not its time expressions: what was asked last week may be solved today. At most one query.
    """
    looked_at = [each for each in recalled if each.significance != SOLUTION][:MOST]
    if not looked_at:
        return {}
    steps = step_scope(project, options)
    places = {
        "sessions": [each.session.id for each in looked_at],
        "sequences": [each.hit.action.sequence for each in looked_at],
        "outcomes": list(OUTCOMES),
    }
    found: dict[Place, dict[str, Place]] = {}
    for session, sequence, significance, at in prepared_statements.fetch_rows(
        _BEHIND.format(among=steps.where), steps.facts | places
    ):
        found.setdefault((session, sequence), {})[significance] = session, at
    return {
        place: {outcome: significance[outcome] for outcome in OUTCOMES if outcome in significance}
        for place, significance in found.items()
    }
