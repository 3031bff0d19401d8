"""The steps that a question considers, as an SQL condition on their index rows (`x`)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from timemachine.core.accounts.models import Project
from timemachine.core.database import SqlParameters
from timemachine.core.pure.postgres_text import storable
from timemachine.memory.search.filters import time_range
from timemachine.memory.search.recall.questions import RecallOptions
from timemachine.recording.annotations.significance.queries import COMPRESSED
from timemachine.recording.sessions.models import Session

JOIN_SIGNIFICANCE: Final = """
LEFT JOIN tm_weight now ON now.action_id = x.action_id LEFT JOIN tm_compression pressed ON pressed.session_id = x.session_id
"""
"""Joins the significance in force to index rows, for `IMPORTANCE`."""
IMPORTANCE: Final = (
    "tm_importance(now.importance, now.significance, x.worth, x.significance, pressed.through >= x.sequence)"
)
_IS_CHANGED: Final = """(
    (SELECT EXISTS (SELECT FROM tm_weight)) AND EXISTS (SELECT FROM tm_weight said WHERE said.action_id = x.action_id)
)"""
"""The planner assumes that a lookup in an empty table is free and repeats it per step, so whether it is empty is
asked once.
"""
_OF_SESSION: Final = (
    "EXISTS (SELECT FROM tm_session s WHERE s.id = x.session_id AND s.project_id = %(project)s AND {0})"
)
_FILTERS: Final = {
    "agent": f"(x.agent = %(agent)s OR (x.agent IS NULL AND {_OF_SESSION.format('s.agent = %(agent)s')}))",
    "user": _OF_SESSION.format('s."user" = %(user)s'),
    "tags": f"(x.tags && %(tags)s::text[] OR {_OF_SESSION.format('s.tags && %(tags)s::text[]')})",
    "kinds": "x.kind = ANY(%(kinds)s)",
    "since": "x.at >= %(since)s",
    "until": "x.at <= %(until)s",
}
_SIGNIFICANCE_FILTERS: Final = {
    "significances": f"(x.significance = ANY(%(significances)s) OR {_IS_CHANGED}) "
    "AND coalesce(now.significance, x.significance) = ANY(%(significances)s)",
    "min_importance": f"(x.worth >= %(min_importance)s OR %(min_importance)s <= {COMPRESSED} OR {_IS_CHANGED}) "
    f"AND {IMPORTANCE} >= %(min_importance)s",
}
"""The recorded values exclude most steps; the values in force are looked up for the rest."""

type Times = Sequence[tuple[datetime | None, datetime | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepScope:
    """The steps of the project whose index rows (`x`) match all conditions. `weighed`: the conditions need the
    join `JOIN_SIGNIFICANCE`.
    """

    project: Project
    conditions: tuple[str, ...] = ()
    facts: SqlParameters
    weighed: bool = False

    @property
    def where(self) -> str:
        """Return all conditions as one, including that of the project."""
        return " AND ".join(("x.project_id = %(project)s", *self.conditions))

    @property
    def joined(self) -> str:
        """Return the join of the index rows."""
        return JOIN_SIGNIFICANCE if self.weighed else ""


def step_scope(
    project: Project,
    options: RecallOptions,
    times: Times = (),
    sessions: Collection[UUID] = (),
    besides: Session | None = None,
) -> StepScope:
    """Return the project's steps that match the options, one of the `times` (from, to; if any), and one of the
    sessions, or not `besides`.
    """
    spans = {
        f"{end}_{place}": at for place, span in enumerate(times) for end, at in zip("ab", span, strict=True)
    }
    of_session = {
        "session": next(iter(sessions)) if len(sessions) == 1 else None,
        "sessions": list(sessions) if len(sessions) > 1 else [],
        "besides": besides and besides.id,
    }
    facts = {
        name: each for name, each in (_facts(options) | of_session).items() if each not in ("", None, [])
    }
    known = (
        {
            "session": "x.session_id = %(session)s",
            "sessions": "x.session_id = ANY(%(sessions)s::uuid[])",
            "besides": "x.session_id <> %(besides)s",
        }
        | _FILTERS
        | _SIGNIFICANCE_FILTERS
    )
    conditions = [condition for name, condition in known.items() if name in facts]
    return StepScope(
        project=project,
        conditions=(*conditions, *_within(times)),
        facts={"project": project.id} | facts | spans,
        weighed=any(name in facts for name in _SIGNIFICANCE_FILTERS),
    )


def _facts(options: RecallOptions) -> SqlParameters:
    since, until = time_range(options.since, options.until, "turn")
    return {
        "agent": storable(options.agent),
        "user": storable(options.user),
        "tags": [storable(tag) for tag in options.tags],
        "kinds": list(options.kinds),
        "significances": list(options.significances),
        "min_importance": options.min_importance,
        "since": since,
        "until": until,
    }


def _within(times: Times) -> Iterator[str]:
    """Yield the condition that a step is within one of the times, if there are any."""
    ends = (
        [
            f"x.at {sign} %({end}_{place})s"
            for end, sign, at in zip("ab", (">=", "<"), span, strict=True)
            if at
        ]
        for place, span in enumerate(times)
    )
    if spans := [" AND ".join(each) for each in ends if each]:
        yield f"({' OR '.join(spans)})"
