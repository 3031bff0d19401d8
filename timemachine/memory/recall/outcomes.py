"""What came of the turns that were recalled: the solution, breakthrough and decision behind each in its session."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from timemachine.core.accounts.models import Project
from timemachine.knowledge import prepared_statements
from timemachine.memory.recall.conditions import WEIGHED, among
from timemachine.memory.recall.queries import Recalled
from timemachine.memory.recall.questions import Wanted
from timemachine.memory.search.index_rows import MADE

SOLUTION: Final = "solution"
OUTCOMES: Final = (SOLUTION, "breakthrough", "decision")
"""What is told of them, the most telling first."""
REACH: Final = 1_000
"""How many steps behind a turn are looked at."""
MOST: Final = 50
"""Of how many turns the outcomes are looked for: the best."""
_BEHIND: Final = f"""
SELECT DISTINCT ON (place.session, place.sequence, coalesce(now.significance, x.significance))
       place.session, place.sequence, coalesce(now.significance, x.significance), x.sequence
FROM unnest(%(sessions)s::uuid[], %(sequences)s::bigint[]) AS place(session, sequence)
CROSS JOIN LATERAL (
    {MADE} FROM tm_action a WHERE a.session_id = place.session AND a.sequence > place.sequence AND a.sequence <= place.sequence + {REACH}
    ORDER BY a.sequence LIMIT {REACH}
) AS x {WEIGHED}
WHERE {{among}} AND coalesce(now.significance, x.significance) = ANY(%(outcomes)s::text[]) AND NOT EXISTS (
    SELECT FROM tm_erased_turn gone WHERE gone.session_id = x.session_id AND gone.sequence = x.sequence
)
ORDER BY place.session, place.sequence, coalesce(now.significance, x.significance), x.sequence
"""  # noqa: S608  # constants

type Place = tuple[UUID, int]
type Outcomes = Mapping[Place, Mapping[str, Place]]


def outcomes_of(project: Project, recalled: Sequence[Recalled], wanted: Wanted) -> Outcomes:
    """The first step of each of `OUTCOMES` behind each of the best turns, by the turn's session and step; a turn that is a solution has none.

    By its significance, the most telling first. They fit what narrows the question, but not its words of time: what was asked last week may be solved today. One query at most.
    """
    looked_at = [each for each in recalled if each.significance != SOLUTION][:MOST]
    if not looked_at:
        return {}
    steps = among(project, wanted)
    places = {
        "sessions": [each.session.id for each in looked_at],
        "sequences": [each.hit.action.sequence for each in looked_at],
        "outcomes": list(OUTCOMES),
    }
    found: dict[Place, dict[str, Place]] = {}
    for session, sequence, said, at in prepared_statements.rows(
        _BEHIND.format(among=steps.where), steps.facts | places
    ):
        found.setdefault((session, sequence), {})[said] = session, at
    return {
        place: {outcome: said[outcome] for outcome in OUTCOMES if outcome in said}
        for place, said in found.items()
    }
