"""What is remembered of deleted sessions and steps: enough to say that they were, and nothing of what they were."""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.crypto import salted_hmac

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import counted
from timemachine.recording.sessions.models import KEY_PATTERN, ErasedSession, ErasedTurn, Session
from timemachine.recording.sessions.pure.turn_text import Deleted

KEY: Final = re.compile(KEY_PATTERN)
_SALT = "timemachine.recording.gone"
IS_DELETED: Final = Exists(
    ErasedTurn.objects.filter(session=OuterRef("session"), sequence=OuterRef("sequence"))
)
"""Whether an action was deleted: its place is left, and it says nothing."""


def remember(
    session: Session,
    *,
    actions: int,
    by: str | None,
    reason: str | None,
    at: datetime,
    log_index: int,
    summaries: list[dict[str, Any]],
) -> ErasedSession:
    """Keep that a session is deleted, in the transaction that does it, which frames of `summaries` stay, and of its branches from what they went on."""
    Session.objects.filter(parent=session).update(parent_erased=session.id)
    return ErasedSession.objects.create(
        project_id=session.project_id,
        session=session.id,
        key_mark=_mark(session.project_id, session.key, settings.SECRET_KEY),
        actions=actions,
        erased_at=at,
        erased_by=by and by[:254],
        reason=reason,
        summaries=summaries,
        log_index=log_index,
    )


def deleted_before(project: Project, key: str) -> ErasedSession | None:
    """The last deletion of a session with this key; None where there was none, or the server's secret was replaced since."""
    return _deleted_before(project, key).order_by("-erased_at", "-id").first()


def all_deleted_before(project: Project, key: str) -> list[UUID]:
    """The ids of all deleted sessions that had this key; as `deleted_before`."""
    return list(_deleted_before(project, key).values_list("session", flat=True))


def _deleted_before(project: Project, key: str) -> QuerySet[ErasedSession]:
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    marks = [_mark(project.id, key, str(secret)) for secret in secrets]
    return ErasedSession.objects.filter(project=project, key_mark__in=marks)


def deletion_of(project: Project, id_or_key: str) -> ErasedSession | None:
    """The last deletion of the project's session of that uuid or key; None where there was none. Two queries at most."""
    wanted = uuid_of(id_or_key)
    found = None
    if wanted is not None:
        mine = ErasedSession.objects.filter(project=project, session=wanted)
        found = mine.order_by("-erased_at", "-id").first()
    return found or (deleted_before(project, id_or_key) if KEY.fullmatch(id_or_key) else None)


def is_deleted(gone: ErasedSession, named: str) -> NotFound:
    """That a session was deleted: when, by whom and why, what stays of it, and where the project's log has it; in words, and as facts."""
    by = f" by {gone.erased_by}" if gone.erased_by else ""
    because = f": {gone.reason}" if gone.reason else ", without a reason given"
    stays = "".join(
        f" A summary of it stays in the collection {each['collection']}, frame {each['frame']:,}."
        for each in gone.summaries or ()
    )
    return NotFound(
        f"The session {named[:80]!r} was deleted on {gone.erased_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC{by}{because}. "
        f"It had {counted(gone.actions, 'action')}; entry {gone.log_index:,} of the project's log says so, too.{stays}",
        code="session_deleted",
        session=str(gone.session),
        actions=gone.actions,
        deleted={"at": written(gone.erased_at), "by": gone.erased_by, "reason": gone.reason},
        summaries=gone.summaries or [],
        log_index=gone.log_index,
    )


def erased_turns(session: Session | UUID, sequences: Collection[int]) -> dict[int, ErasedTurn]:
    """Which of these steps were deleted. One query."""
    found = ErasedTurn.objects.filter(session=session, sequence__in=list(sequences))
    return {each.sequence: each for each in found}


def deletions_of(session: Session | UUID, sequences: Collection[int]) -> dict[int, Deleted]:
    """When, by whom and why those of these steps went that were deleted. One query."""
    return {
        sequence: Deleted(at=found.erased_at, by=found.erased_by, reason=found.reason)
        for sequence, found in erased_turns(session, sequences).items()
    }


def _mark(project: UUID, key: str, secret: str) -> str:
    """The key as nobody can read it, or guess it without the server's secret."""
    return salted_hmac(_SALT, f"{project} {key}", secret=secret, algorithm="sha256").hexdigest()
