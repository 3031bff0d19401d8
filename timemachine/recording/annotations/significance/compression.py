"""Compression of ended sessions: exploratory turns count 0.30, decisions, solutions and breakthroughs stay. Reversible; no turn is lost or changed."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.recording.annotations.significance.models import (
    Compression,
    CompressionChange,
    CompressionRule,
)
from timemachine.recording.sessions.models import Session

MOST_DAYS: Final = 3_650
AT_ONCE: Final = 1_000
"""So many sessions are compressed by one statement."""
RULE_EVERY: Final = timedelta(hours=1)

_COMPRESS: Final = """
WITH pressed AS (
    INSERT INTO tm_compression AS known (session_id, through, by, at)
    SELECT id, last_sequence, %(by)s, %(at)s FROM tm_session WHERE id = ANY(%(sessions)s) AND status = 'ended' FOR KEY SHARE
    ON CONFLICT (session_id) DO UPDATE SET through = excluded.through, by = excluded.by, at = excluded.at
    WHERE known.through < excluded.through RETURNING session_id
)
INSERT INTO tm_compression_change (id, session_id, compressed, by_rule, by, at)
SELECT given.id, pressed.session_id, true, %(by_rule)s, %(by)s, %(at)s
FROM pressed JOIN unnest(%(ids)s::uuid[], %(sessions)s::uuid[]) AS given(id, session) ON given.session = pressed.session_id
"""


def compress(session: Session, *, by: str) -> None:
    """Compress one session up to its last turn; one that is compressed so far already stays so.

    Raises `Conflict` while it records, `NotFound` where it was erased meanwhile.
    """
    if session.status == Session.RECORDING:
        raise Conflict(
            f"The session {session.key} still records; end it, then compress it.", code="session_records"
        )
    compress_all([session.id], by=by)
    if not Session.objects.filter(id=session.id).exists():
        raise NotFound("This session was deleted meanwhile.", code="session_not_found")


@transaction.atomic
def undo(session: Session, *, by: str) -> None:
    """Let every turn of a compressed session count what it counted before. The rule of the project leaves such a session alone.

    Raises `NotFound` where it is not compressed.
    """
    gone, _ = Compression.objects.filter(session=session).delete()
    if not gone:
        raise NotFound(f"The session {session.key} is not compressed.", code="not_compressed")
    CompressionChange.objects.create(session=session, compressed=False, by=by[:254])


@transaction.atomic
def compress_all(sessions: list[UUID], *, by: str, by_rule: bool = False) -> int:
    """Compress those of the sessions that have ended, up to their last turns; how many of them were not yet. One statement for `AT_ONCE`."""
    done = 0
    for start in range(0, len(sessions), AT_ONCE):
        some = sessions[start : start + AT_ONCE]
        facts: dict[str, Any] = {
            "sessions": some,
            "ids": [CompressionChange().id for _ in some],
            "by": by[:254],
            "at": now(),
            "by_rule": by_rule,
        }
        with connection.cursor() as cursor:
            cursor.execute(_COMPRESS, facts)
            done += cursor.rowcount
    return done


def older_than(project: Project, days: int) -> QuerySet[Session]:
    """The project's sessions that ended so many days ago or more and are not compressed to their end, without those for which somebody undid it.

    Raises `InvalidInput` for a number of days that is not from 1 to `MOST_DAYS`.
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
        .alias(over=Coalesce("ended_at", "created_at"))
        .filter(over__lte=now() - timedelta(days=days))
        .order_by("started_at", "id")
    )


def compress_older(project: Project, days: int, *, by: str, by_rule: bool = False) -> int:
    """Compress what `older_than` finds; how many sessions these were."""
    return compress_all(list(older_than(project, days).values_list("id", flat=True)), by=by, by_rule=by_rule)


def rule_of(project: Project) -> CompressionRule | None:
    """After how many days the project's sessions are compressed; None for never."""
    return CompressionRule.objects.filter(project=project).first()


def set_rule(project: Project, days: int | None, *, by: str) -> CompressionRule | None:
    """Compress the project's sessions from now on so many days after they ended; None for no rule. What is compressed stays so.

    Raises `InvalidInput` for a number of days that is not from 1 to `MOST_DAYS`.
    """
    if days is None:
        CompressionRule.objects.filter(project=project).delete()
        return None
    _check(days)
    facts = {"days": days, "by": by[:254], "at": now(), "looked_at": None}
    return CompressionRule.objects.update_or_create(project=project, defaults=facts)[0]


def follow_rules(at: datetime | None = None) -> int:
    """Compress what the rules of all projects find, each looked at once in `RULE_EVERY`; how many sessions these were."""
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
