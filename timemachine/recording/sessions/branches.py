"""What branched from what: a session that was resumed goes on in others, each from a step of its parent."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Q

from timemachine.knowledge import prepared_statements
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.prepared_rows import columns, rows_of

MOST_ABOVE: Final = 100
MOST: Final = 500

_ABOVE: Final = """
WITH RECURSIVE above AS (
    SELECT id, parent_id FROM tm_session WHERE id = %s
    UNION ALL
    SELECT parent.id, parent.parent_id FROM tm_session AS parent JOIN above ON parent.id = above.parent_id
) CYCLE id SET again USING way
SELECT id FROM above WHERE NOT again LIMIT %s
"""
_BELOW: Final = """
WITH RECURSIVE below AS (
    SELECT id FROM tm_session WHERE id = %s
    UNION ALL
    SELECT branch.id FROM tm_session AS branch JOIN below ON branch.parent_id = below.id
) CYCLE id SET again USING way
SELECT id FROM below WHERE NOT again LIMIT %s
"""

_COUNT: Final = "SELECT count(*) FROM tm_session WHERE parent_id = %(session)s"
_BRANCHES: Final = f"""
SELECT {columns(Session)} FROM tm_session
WHERE parent_id = %(session)s AND parent_sequence = %(sequence)s ORDER BY id LIMIT %(most)s
"""  # noqa: S608  # names of columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A session of a family, and how many sessions are above it in what is told of the family."""

    session: Session
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A session with all that it branched from and all that branched from those: each after its parent, siblings by step and age.

    `complete` where it is told to its end: of at most `MOST_ABOVE` sessions above and `MOST` below the first of them.
    """

    branches: tuple[Branch, ...]
    complete: bool


def is_branched(session: Session) -> bool:
    """Whether the session goes on from another, be that deleted, or another from it."""
    return (
        session.parent_id is not None
        or session.parent_key is not None
        or session.has_lost_parent
        or branch_count(session) > 0
    )


def branch_count(session: Session) -> int:
    """How many sessions go on from this one."""
    return int(prepared_statements.rows(_COUNT, {"session": session.id})[0][0])


def branches_at(session: Session, sequence: int, most: int) -> list[Session]:
    """The sessions that went on from that step of this one, the earliest first, so many at most. One query."""
    facts = {"session": session.id, "sequence": sequence, "most": most}
    return list(rows_of(Session, _BRANCHES, facts))


def family_of(session: Session) -> Family:
    """The family of a session. Three queries."""
    above = _ids(_ABOVE, session.id, MOST_ABOVE + 1)
    root = above[:MOST_ABOVE][-1]
    below = _ids(_BELOW, root, MOST + 1)
    found = Session.objects.filter(Q(id__in=above[:MOST_ABOVE]) | Q(id__in=below[:MOST]))
    branches: defaultdict[UUID | None, list[Session]] = defaultdict(list)
    for each in found.select_related("collection").order_by("parent_sequence", "id"):
        branches[None if each.id == root else each.parent_id].append(each)
    return Family(
        branches=tuple(_in_order(branches)),
        complete=len(above) <= MOST_ABOVE and len(below) <= MOST,
    )


def all_above(session: Session) -> list[UUID]:
    """The session and all that it goes on from. One query."""
    return _ids(_ABOVE, session.id, None)


def _ids(query: str, first: UUID, limit: int | None) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(query, [first, limit])
        return [found for (found,) in cursor]


def _in_order(branches: dict[UUID | None, list[Session]]) -> Iterator[Branch]:
    waiting = [Branch(session=each, depth=0) for each in branches[None]]
    while waiting:
        branch = waiting.pop()
        yield branch
        its = branches.get(branch.session.id, [])
        waiting.extend(Branch(session=each, depth=branch.depth + 1) for each in reversed(its))
