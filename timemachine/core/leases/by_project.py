"""Who is at some work of a project: a row of a table says until when a worker has it, and when it was rung for.

The queue may lose a ring, and a worker may be killed: a lease ends by itself, and a sweeper rings again for what nobody is at.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection

from timemachine.core.pure.clock import now

RING_AGAIN_AFTER: Final = timedelta(seconds=15)
_RING: Final = """
INSERT INTO {table} AS known (project_id, rung_at) VALUES (%(project)s, %(now)s)
ON CONFLICT (project_id) DO UPDATE SET rung_at = excluded.rung_at
WHERE (known.lease_until IS NULL OR known.lease_until < %(now)s)
AND (known.rung_at IS NULL OR known.rung_at < %(before)s OR %(at_once)s)
"""
_CLAIM: Final = """
INSERT INTO {table} AS known (project_id, lease_until) VALUES (%(project)s, %(until)s)
ON CONFLICT (project_id) DO UPDATE SET lease_until = excluded.lease_until, rung_at = NULL
WHERE known.lease_until IS NULL OR known.lease_until < %(now)s
"""
_LET_GO: Final = "UPDATE {table} SET lease_until = NULL, rung_at = %(rung_at)s WHERE project_id = %(project)s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bell:
    """The bell of one kind of work. `table` has a row for each project, with `lease_until` and `rung_at`; `behind` is SQL for the projects with something to do."""

    table: str
    behind: str

    def due(self, *, at_once: bool = False) -> list[UUID]:
        """The projects with something to do and nobody at it, marked as rung; `at_once` does not wait for the last ring to be answered."""
        with connection.cursor() as cursor:
            cursor.execute(self.behind)
            behind: list[UUID] = [row[0] for row in cursor.fetchall()]
        return [project for project in behind if self.may_ring(project, at_once=at_once)]

    def may_ring(self, project: UUID, *, at_once: bool = False) -> bool:
        """Whether nobody is at a project or was rung for just now; then it is marked as rung."""
        moment = now()
        before = moment - RING_AGAIN_AFTER
        return self._changed(_RING, {"project": project, "now": moment, "before": before, "at_once": at_once})

    def answered(self, project: UUID, seconds: float, work: Callable[[], bool]) -> bool:
        """Do the work, which takes about so long and says whether there is more to do at once; False where somebody is at the project.

        Where there is more the project is marked as rung: the caller rings.
        """
        if not self._claim(project, seconds):
            return False
        more = False
        try:
            more = work()
        finally:
            self._changed(_LET_GO, {"project": project, "rung_at": now() if more else None})
        return more

    def _claim(self, project: UUID, seconds: float) -> bool:
        moment = now()
        until = moment + timedelta(seconds=settings.LEASE_SECONDS + seconds)
        return self._changed(_CLAIM, {"project": project, "now": moment, "until": until})

    def _changed(self, sql: str, facts: Mapping[str, Any]) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(sql.format(table=self.table), facts)
            return bool(cursor.rowcount)
