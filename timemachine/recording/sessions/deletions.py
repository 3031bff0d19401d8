"""Delete the rows of a session, and keep records of deleted sessions and steps: that they existed and were deleted, and none of
their content.
"""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final, TypedDict
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.crypto import salted_hmac

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import drop_unreferenced, payloads_of
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import counted
from timemachine.recording.sessions.holds import require_no_hold
from timemachine.recording.sessions.models import KEY_PATTERN, ErasedSession, ErasedTurn, Session
from timemachine.recording.sessions.pure.turn_text import Deleted

KEY: Final = re.compile(KEY_PATTERN)
_SALT = "timemachine.recording.gone"
IS_DELETED: Final = Exists(
    ErasedTurn.objects.filter(session=OuterRef("session"), sequence=OuterRef("sequence"))
)
"""Whether an action was deleted: its place stays, without content."""


@transaction.atomic
def erase_session(session: Session) -> int:
    """Remove a session with its actions, hits, notes, replays, judgements, share links and cached answers, and the
    payloads that nothing else uses.

    Returns the number of actions. The trigger allows deleting rows in this transaction only. Raises `Conflict`
    (`on_hold`) if the session is under legal hold.
    """
    removed = Session.objects.select_for_update().get(id=session.id).last_sequence
    require_no_hold(session)
    held = payloads_of(session)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        cursor.execute("DELETE FROM tm_session WHERE id = %s", [session.id])
        drop_unreferenced(held)
        cursor.execute("SET LOCAL timemachine.erasing = 'off'")
    return removed


class SummaryFrame(TypedDict):
    """A summary of a session in a collection, which stays when the session is deleted."""

    collection: str
    frame: int


def record_deletion(
    session: Session,
    *,
    actions: int,
    by: str | None,
    reason: str | None,
    at: datetime,
    log_index: int,
    summaries: list[SummaryFrame],
) -> ErasedSession:
    """Record that a session is deleted, in the transaction that deletes it.

    `summaries` are frames that stay. Its branches keep the id of the deleted session.
    """
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


def deleted_before(project: Project, key: str) -> QuerySet[ErasedSession]:
    """Return the deletions of sessions with this key, the latest first; none if the server's secret has been replaced."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    marks = [_mark(project.id, key, str(secret)) for secret in secrets]
    return ErasedSession.objects.filter(project=project, key_mark__in=marks).order_by("-erased_at", "-id")


def count_marks() -> int:
    """Return how many deleted sessions are recognised by their key, for which the secret of that time is needed."""
    return ErasedSession.objects.count()


def deletion_of(project: Project, id_or_key: str) -> ErasedSession | None:
    """Return the last deletion of the project's session with that uuid or key, or None. Two queries at most."""
    session_id = uuid_of(id_or_key)
    found = None
    if session_id is not None:
        mine = ErasedSession.objects.filter(project=project, session=session_id)
        found = mine.order_by("-erased_at", "-id").first()
    return found or (deleted_before(project, id_or_key).first() if KEY.fullmatch(id_or_key) else None)


def session_deleted(deletion: ErasedSession, named: str) -> NotFound:
    """Return the error for a deleted session: when, by whom and why, what remains of it, and its entry in the project's log."""
    by = f" by {deletion.erased_by}" if deletion.erased_by else ""
    because = f": {deletion.reason}" if deletion.reason else ", without a reason given"
    stays = "".join(
        f" A summary remains in the collection {each['collection']}, frame {each['frame']:,}."
        for each in deletion.summaries or ()
    )
    return NotFound(
        f"The session {named[:80]!r} was deleted on {deletion.erased_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC{by}{because}. "
        f"It had {counted(deletion.actions, 'action')}; see entry {deletion.log_index:,} of the project's log.{stays}",
        code="session_deleted",
        session=str(deletion.session),
        actions=deletion.actions,
        deleted={"at": written(deletion.erased_at), "by": deletion.erased_by, "reason": deletion.reason},
        summaries=deletion.summaries or [],
        log_index=deletion.log_index,
    )


def deletions_of(session: Session | UUID, sequences: Collection[int]) -> dict[int, Deleted]:
    """Return when, by whom and why these steps were deleted, for those that were. One query."""
    found = ErasedTurn.objects.filter(session=session, sequence__in=list(sequences))
    return {
        each.sequence: Deleted(at=each.erased_at, by=each.erased_by, reason=each.reason) for each in found
    }


def _mark(project: UUID, key: str, secret: str) -> str:
    """Return a keyed hash of the key, which cannot be read or guessed without the server's secret."""
    return salted_hmac(_SALT, f"{project} {key}", secret=secret, algorithm="sha256").hexdigest()
