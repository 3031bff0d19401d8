"""Backlogs: the recorded steps that a job has still to process, found and worked off batch by batch.

How far a session is processed is a row that is stored together with the result of each batch. So a worker may be
killed at any time, or another may repeat a batch, and nothing is lost or duplicated. Recorded data is read outside any
transaction, and the transaction that stores a result locks nothing that an append waits for.
"""

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from django.db import IntegrityError, OperationalError, connection, models, transaction
from django.db.models import QuerySet

from timemachine.core import prepared_statements
from timemachine.core.leases import ProjectWork, mark_enqueued

log = logging.getLogger(__name__)

TURN_SECONDS: Final = 5.0
"""How long a job works on one project before it goes to the end of the queue."""
WORTH_A_LOOK: Final = 100
"""If fewer new steps than this were processed, the rest waits for the next job, so that steps arriving one by one
are processed together.
"""
_LOCK_SESSION: Final = "SELECT FROM tm_session WHERE id = %s FOR KEY SHARE"
_BEHIND: Final = """
SELECT s.id, coalesce(p.{through}, 0), coalesce(p.{restarts}, 0), s.last_sequence
FROM tm_session s LEFT JOIN {progress} p ON p.session_id = s.id
WHERE s.project_id = %s AND s.last_sequence > coalesce(p.{through}, 0) AND NOT s.id = ANY(%s)
ORDER BY s.last_sequence - coalesce(p.{through}, 0), s.id LIMIT 100
"""
_PROJECTS_BEHIND: Final = """
SELECT DISTINCT s.project_id FROM tm_session s LEFT JOIN {progress} p ON p.session_id = s.id
WHERE s.last_sequence > coalesce(p.{through}, 0)
"""
_LACKING: Final = """
SELECT coalesce(sum(s.last_sequence - coalesce(p.{through}, 0)), 0)::bigint
FROM tm_session s LEFT JOIN {progress} p ON p.session_id = s.id
WHERE s.project_id = %(project)s AND s.last_sequence > coalesce(p.{through}, 0)
"""


class Overtaken(Exception):
    """Another worker has processed the same steps, or they changed in the meantime. The result must not be stored."""


class SessionBehind(NamedTuple):
    """A session that is processed through one of its steps, with its last step, and how often it was restarted."""

    id: UUID
    through: int
    restarts: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog[Work: ProjectWork]:
    """The steps that one job has still to process.

    `work` has the leases of the projects. `progress` has a row for each session, which is processed up to the step in the
    column `through`; the column `restarts` counts changes after which an earlier result must not be stored. `more_projects`
    is SQL for projects with something else to do.
    """

    work: type[Work]
    progress: type[models.Model]
    through: str
    restarts: str
    more_projects: str = ""

    def overdue(self) -> QuerySet[Work]:
        """Return the projects with something to do."""
        with connection.cursor() as cursor:
            cursor.execute(self._sql(_PROJECTS_BEHIND) + self.more_projects)
            return self.work.of([project for (project,) in cursor])

    def is_due(self, project_id: UUID) -> bool:
        """Return whether the job is to be enqueued for a project."""
        return bool(mark_enqueued(self.work.of([project_id])))

    def count(self, project_id: UUID) -> int:
        """Return how many steps of the project are not processed yet."""
        return int(prepared_statements.fetch_rows(self._sql(_LACKING), {"project": project_id})[0][0])

    def work_off(self, project_id: UUID, until: float, process: Callable[[SessionBehind, int], int]) -> bool:
        """Process steps of the project until that moment (`time.monotonic`). Return whether there is more to do now.

        `process` is called with a session and the last processed step of it, and returns how many more it processed, 0 if
        the session has to be left for later. Sessions with the most steps go last, so that an import delays nothing.
        """
        left: set[UUID] = set()
        new = WORTH_A_LOOK
        while new >= WORTH_A_LOOK and (behind := self._sessions(project_id, left)):
            new = 0
            for session in behind:
                at = session.through
                while at < session.last:
                    if time.monotonic() > until:
                        return True
                    processed = process(session, at)
                    if not processed:
                        left.add(session.id)
                        break
                    at += processed
                new += at - session.through
        return False

    def _sessions(self, project_id: UUID, left: Collection[UUID]) -> list[SessionBehind]:
        with connection.cursor() as cursor:
            cursor.execute(self._sql(_BEHIND), [project_id, list(left)])
            return [SessionBehind(*row) for row in cursor]

    def _sql(self, template: str) -> str:
        table = self.progress._meta.db_table
        return template.format(progress=table, through=self.through, restarts=self.restarts)


def store_if_current(begun: models.Model, store: Callable[[], None]) -> bool:
    """Store the result of a batch. Return False, without a change, if it is out of date or has to wait.

    The row of the session's progress is first created in its own transaction: it waits for an append, and no append waits for it.
    It locks the session first, as an erasure does; in the other order the two would deadlock. The key of `begun` is its session's id.
    """
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute(_LOCK_SESSION, [begun.pk])
                if not cursor.rowcount:  # the session has been deleted
                    return False
            type(begun)._default_manager.bulk_create([begun], ignore_conflicts=True)
        store()
    except (IntegrityError, OperationalError, Overtaken) as why:
        log.info("steps of %s are left for later: %s", begun.pk, why)
        return False
    return True


def give_way_to_erasures() -> None:
    """Have this transaction notice an erased reference immediately, not at its end, and wait less for locks than an erasure."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL lock_timeout = '300ms'")
