"""Which steps a question looks at: a condition in SQL on their sketches (`x`)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import parse_typed_start, parse_typed_time
from timemachine.core.pure.postgres_text import storable
from timemachine.memory.recall.questions import Wanted
from timemachine.recording.annotations.significance.effective import COMPRESSED
from timemachine.recording.sessions.models import Session

WEIGHED: Final = """
LEFT JOIN tm_weight now ON now.action_id = x.action_id LEFT JOIN tm_compression pressed ON pressed.session_id = x.session_id
"""
"""What is joined to the sketches, for `IMPORTANCE`."""
IMPORTANCE: Final = (
    "tm_importance(now.importance, now.significance, x.worth, x.significance, pressed.through >= x.sequence)"
)
_SAID: Final = """(
    (SELECT EXISTS (SELECT FROM tm_weight)) AND EXISTS (SELECT FROM tm_weight said WHERE said.action_id = x.action_id)
)"""
"""Of an empty table the planner takes it that to look into it for each step costs nothing: so it is asked once whether it is empty."""
_OF_SESSION: Final = (
    "EXISTS (SELECT FROM tm_session s WHERE s.id = x.session_id AND s.project_id = %(project)s AND {0})"
)
_ASKED: Final = {
    "agent": f"(x.agent = %(agent)s OR (x.agent IS NULL AND {_OF_SESSION.format('s.agent = %(agent)s')}))",
    "user": _OF_SESSION.format('s."user" = %(user)s'),
    "tags": f"(x.tags && %(tags)s::text[] OR {_OF_SESSION.format('s.tags && %(tags)s::text[]')})",
    "kinds": "x.kind = ANY(%(kinds)s)",
    "since": "x.at >= %(since)s",
    "until": "x.at <= %(until)s",
}
_WEIGHTS: Final = {
    "significances": f"(x.significance = ANY(%(significances)s) OR {_SAID}) "
    "AND coalesce(now.significance, x.significance) = ANY(%(significances)s)",
    "min_importance": f"(x.worth >= %(min_importance)s OR %(min_importance)s <= {COMPRESSED} OR {_SAID}) "
    f"AND {IMPORTANCE} >= %(min_importance)s",
}
"""What steps were recorded with leaves few of them, of which it is looked up what was said since."""

type Times = Sequence[tuple[datetime | None, datetime | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """Which steps of the project are looked at: those whose sketches (`x`) fulfil all of the conditions. `weighed`: they ask for `WEIGHED`, too."""

    project: Project
    conditions: tuple[str, ...] = ()
    facts: dict[str, Any]
    weighed: bool = False

    @property
    def where(self) -> str:
        """The conditions as one, that of the project among them."""
        return " AND ".join(("x.project_id = %(project)s", *self.conditions))

    @property
    def joined(self) -> str:
        """What is joined to the sketches."""
        return WEIGHED if self.weighed else ""


def among(
    project: Project,
    wanted: Wanted,
    times: Times = (),
    sessions: Collection[UUID] = (),
    besides: Session | None = None,
) -> Among:
    """The project's steps that fit, that lie in one of the times (from, up to), where there are any, and are of these sessions, or not of that other."""
    spans = {
        f"{end}_{place}": at for place, span in enumerate(times) for end, at in zip("ab", span, strict=True)
    }
    of_session = {
        "session": next(iter(sessions)) if len(sessions) == 1 else None,
        "sessions": list(sessions) if len(sessions) > 1 else [],
        "besides": besides and besides.id,
    }
    facts = {name: each for name, each in (_facts(wanted) | of_session).items() if each not in ("", None, [])}
    known = (
        {
            "session": "x.session_id = %(session)s",
            "sessions": "x.session_id = ANY(%(sessions)s::uuid[])",
            "besides": "x.session_id <> %(besides)s",
        }
        | _ASKED
        | _WEIGHTS
    )
    conditions = [condition for name, condition in known.items() if name in facts]
    return Among(
        project=project,
        conditions=(*conditions, *_within(times)),
        facts={"project": project.id} | facts | spans,
        weighed=any(name in facts for name in _WEIGHTS),
    )


def _facts(wanted: Wanted) -> dict[str, Any]:
    return {
        "agent": storable(wanted.agent),
        "user": storable(wanted.user),
        "tags": [storable(tag) for tag in wanted.tags],
        "kinds": list(wanted.kinds),
        "significances": list(wanted.significances),
        "min_importance": wanted.min_importance,
        "since": parse_typed_start(wanted.since) if wanted.since else None,
        "until": parse_typed_time(wanted.until) if wanted.until else None,
    }


def _within(times: Times) -> Iterator[str]:
    """That a step lies in one of the times, where there are any."""
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
