"""Branches: a session that was resumed continues in other sessions, each from a step of its parent.

A branch and its parent are linked whichever arrives first: a parent named by its key is linked when it arrives.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Q

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.database import lock_until_commit
from timemachine.recording.sessions.deletions import deleted_before
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.prepared_rows import columns, rows_of

MOST_ABOVE: Final = 100
MOST: Final = 500

_ABOVE: Final = """
WITH RECURSIVE above AS (
    SELECT id, parent_id FROM tm_session WHERE id = %s
    UNION ALL
    SELECT parent.id, parent.parent_id FROM tm_session AS parent JOIN above ON parent.id = above.parent_id
) CYCLE id SET is_cycle USING way
SELECT id FROM above WHERE NOT is_cycle LIMIT %s
"""
_BELOW: Final = """
WITH RECURSIVE below AS (
    SELECT id FROM tm_session WHERE id = %s
    UNION ALL
    SELECT branch.id FROM tm_session AS branch JOIN below ON branch.parent_id = below.id
) CYCLE id SET is_cycle USING way
SELECT id FROM below WHERE NOT is_cycle LIMIT %s
"""

_COUNT: Final = "SELECT count(*) FROM tm_session WHERE parent_id = %(session)s"
_BRANCHES: Final = f"""
SELECT {columns(Session)} FROM tm_session
WHERE parent_id = %(session)s AND parent_sequence = %(sequence)s ORDER BY id LIMIT %(most)s
"""  # noqa: S608  # names of columns

type Parent = tuple[Session | str | UUID | None, int | None]
"""The session that another one branched from (or its key if it is not here yet, or its id if it was deleted), and the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A session among its branches, and how many of the listed sessions are above it."""

    session: Session
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchTree:
    """A session with all that it branched from and all that branched from those. Children follow their parent, ordered
    by step and age.

    `complete` is false if some are left out: at most `MOST_ABOVE` sessions above and `MOST` below the topmost are
    listed.
    """

    branches: tuple[Branch, ...]
    complete: bool


def branch_count(session: Session) -> int:
    """Return the number of sessions that branched from this one."""
    return int(prepared_statements.fetch_rows(_COUNT, {"session": session.id})[0][0])


def branches_at(session: Session, sequence: int, most: int) -> list[Session]:
    """Return the first sessions that branched from that step, the earliest first. One query."""
    facts = {"session": session.id, "sequence": sequence, "most": most}
    return list(rows_of(Session, _BRANCHES, facts))


def branch_tree(session: Session) -> BranchTree:
    """Return the branches of a session. Three queries."""
    above = _ids(_ABOVE, session.id, MOST_ABOVE + 1)
    root = above[:MOST_ABOVE][-1]
    below = _ids(_BELOW, root, MOST + 1)
    found = Session.objects.filter(Q(id__in=above[:MOST_ABOVE]) | Q(id__in=below[:MOST]))
    branches: defaultdict[UUID | None, list[Session]] = defaultdict(list)
    for each in found.select_related("collection").order_by("parent_sequence", "id"):
        branches[None if each.id == root else each.parent_id].append(each)
    return BranchTree(
        branches=tuple(_in_order(branches)),
        complete=len(above) <= MOST_ABOVE and len(below) <= MOST,
    )


def ancestors_of(session: Session) -> list[UUID]:
    """Return the ids of the session and of everything it branched from. One query."""
    return _ids(_ABOVE, session.id, None)


def resolve_parent(project: Project, named: Session | str | UUID | None) -> tuple[Session | None, str | None]:
    """Return the named session, or the key of one that is not here yet; neither for a deleted one, which is named by id."""
    if not isinstance(named, str):
        return (None if isinstance(named, UUID) else named), None
    found = Session.objects.filter(project=project, key=named).first()
    return found, None if found else named


def link_waiting_branches(begun: Session) -> None:
    """Link sessions that waited for this one to it, except its own ancestors, which keep waiting.

    If a deleted session is imported again, the branches that had lost it are linked to it as well.
    """
    waits = Q(parent_key=begun.key)
    if begun.imported_as is not None:
        waits |= Q(parent_erased__in=deleted_before(begun.project, begun.key).values("session"))
    awaiting = Session.objects.filter(waits, project=begun.project)
    if not awaiting.exists():
        return
    lock_until_commit(f"parents {begun.project_id}")  # two links made at the same time could form a circle
    awaiting.exclude(id__in=ancestors_of(begun)).update(parent=begun, parent_key=None, parent_erased=None)


def _ids(query: str, first: UUID, limit: int | None) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(query, [first, limit])
        return [found for (found,) in cursor]


def _in_order(branches: dict[UUID | None, list[Session]]) -> Iterator[Branch]:
    waiting = [Branch(session=each, depth=0) for each in branches[None]]
    while waiting:
        branch = waiting.pop()
        yield branch
        children = branches.get(branch.session.id, [])
        waiting.extend(Branch(session=each, depth=branch.depth + 1) for each in reversed(children))
