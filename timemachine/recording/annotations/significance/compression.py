"""Compress ended sessions: lower the importance of exploratory steps to 0.30. Reversible; no step is lost or changed.

Decisions, solutions and breakthroughs keep their importance.
"""

from datetime import datetime, timedelta
from itertools import batched
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.recording.annotations.significance.models import (
    Compression,
    CompressionChange,
    CompressionRule,
)
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import OLDEST_FIRST

MOST_DAYS: Final = 3_650
AT_ONCE: Final = 1_000
"""Number of sessions that one statement compresses."""
RULE_EVERY: Final = timedelta(hours=1)

_COMPRESS: Final = """
WITH newly AS (
    INSERT INTO tm_compression AS known (session_id, through, by, at)
    SELECT id, last_sequence, %(by)s, %(at)s FROM tm_session WHERE id = ANY(%(sessions)s) AND status = 'ended' FOR KEY SHARE
    ON CONFLICT (session_id) DO UPDATE SET through = excluded.through, by = excluded.by, at = excluded.at
    WHERE known.through < excluded.through RETURNING session_id
)
INSERT INTO tm_compression_change (id, session_id, compressed, by_rule, by, at)
SELECT given.id, newly.session_id, true, %(by_rule)s, %(by)s, %(at)s
FROM newly JOIN unnest(%(ids)s::uuid[], %(sessions)s::uuid[]) AS given(id, session) ON given.session = newly.session_id
"""


def compress(session: Session, *, by: str) -> None:
    """Compress a session up to its last step. If it already is, nothing changes.

    Raises `Conflict` while it is recording, `NotFound` if it was erased in the meantime.
    """
    if session.status == Session.RECORDING:
        raise Conflict(
            f"Session {session.key} is still recording. End it first, then compress it.",
            code="session_records",
        )
    compress_all([session.id], by=by)
    if not Session.objects.filter(id=session.id).exists():
        raise NotFound("This session was deleted in the meantime.", code="session_not_found")


@transaction.atomic
def undo(session: Session, *, by: str) -> None:
    """Restore the importance of every step of a compressed session. The project's rule then leaves the session alone.

    Raises `NotFound` if it is not compressed.
    """
    deleted, _ = Compression.objects.filter(session=session).delete()
    if not deleted:
        raise NotFound(f"Session {session.key} is not compressed.", code="not_compressed")
    CompressionChange.objects.create(session=session, compressed=False, by=by[:254])


@transaction.atomic
def compress_all(sessions: list[UUID], *, by: str, by_rule: bool = False) -> int:
    """Compress those of the sessions that have ended, up to their last steps; return how many changed. One statement for
    `AT_ONCE` sessions."""
    done = 0
    for batch in batched(sessions, AT_ONCE, strict=False):
        ids = [CompressionChange().id for _ in batch]
        with connection.cursor() as cursor:
            cursor.execute(
                _COMPRESS,
                {"sessions": [*batch], "ids": ids, "by": by[:254], "at": now(), "by_rule": by_rule},
            )
            done += cursor.rowcount
    return done


def older_than(project: Project, days: int) -> QuerySet[Session]:
    """Return the project's sessions that ended at least this many days ago and are not fully compressed.

    Sessions for which someone undid a compression are left out. Raises `InvalidInput` if `days` is not from 1 to
    `MOST_DAYS`.
    """
    _check(days)
    undone = CompressionChange.objects.filter(session=OuterRef("pk"), compressed=False)
    return (
        Session.objects.filter(
            Q(compression=None) | Q(compression__through__lt=F("last_sequence")),
            ~Exists(undone),
            project=project,
            status=Session.ENDED,
        )
        .alias(finished_at=Coalesce("ended_at", "created_at"))
        .filter(finished_at__lte=now() - timedelta(days=days))
        .order_by(*OLDEST_FIRST)
    )


def compress_older(project: Project, days: int, *, by: str, by_rule: bool = False) -> int:
    """Compress the sessions of `older_than`; return how many."""
    return compress_all(list(older_than(project, days).values_list("id", flat=True)), by=by, by_rule=by_rule)


def rule_of(project: Project) -> CompressionRule | None:
    """Return the rule by which the project's sessions are compressed automatically, or None."""
    return CompressionRule.objects.filter(project=project).first()


@transaction.atomic
def set_rule(project: Project, days: int | None, *, by: str) -> CompressionRule | None:
    """Compress the project's sessions automatically this many days after they end; None removes the rule. Compressed
    sessions stay so.

    Raises `InvalidInput` if `days` is not from 1 to `MOST_DAYS`.
    """
    if days is not None:
        _check(days)
    record(project, "setting.changed", "setting", "compression", by=by, days=days)
    if days is None:
        CompressionRule.objects.filter(project=project).delete()
        return None
    facts = {"days": days, "by": by[:254], "at": now(), "looked_at": None}
    return CompressionRule.objects.update_or_create(project=project, defaults=facts)[0]


def follow_rules(at: datetime | None = None) -> int:
    """Apply the rules of all projects, each at most once per `RULE_EVERY`; return how many sessions were compressed."""
    at = at or now()
    due = CompressionRule.objects.exclude(looked_at__gt=at - RULE_EVERY).select_related("project")
    done = 0
    for rule in due:
        done += compress_older(rule.project, rule.days, by=rule.by, by_rule=True)
        CompressionRule.objects.filter(pk=rule.pk, days=rule.days).update(looked_at=at)
    return done


def _check(days: int) -> None:
    if not 1 <= days <= MOST_DAYS:
        raise InvalidInput(
            f"`days` must be a whole number from 1 to {MOST_DAYS:,}.", code="invalid_field", field="days"
        )
