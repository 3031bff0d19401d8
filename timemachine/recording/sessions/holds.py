"""Legal holds on sessions: nothing of a held session may be deleted or erased. Database triggers enforce it as well."""

from collections.abc import Iterable
from datetime import UTC
from typing import Final
from uuid import UUID

from django.db.models import Exists, OuterRef

from timemachine.core import prepared_statements
from timemachine.core.pure.errors import Conflict
from timemachine.recording.sessions.models import HeldSession, Hold, Session

IS_HELD: Final = Exists(HeldSession.objects.filter(session=OuterRef("pk"), released_at=None))
"""Whether a session is under a hold."""
_HELD: Final = (
    "SELECT session_id FROM tm_held_session WHERE session_id = ANY(%(sessions)s) AND released_at IS NULL"
)


def holds_on(session: Session | UUID) -> list[Hold]:
    """Return the holds on a session, the oldest first. One query."""
    return list(
        Hold.objects.filter(held__session=session, held__released_at=None).order_by("placed_at", "id")
    )


def held_among(sessions: Iterable[UUID]) -> set[UUID]:
    """Return which of these sessions are under a hold. One query."""
    return {session for (session,) in prepared_statements.fetch_rows(_HELD, {"sessions": list(sessions)})}


def require_no_hold(session: Session) -> None:
    """Raise `Conflict` (`on_hold`) if the session is under a hold. Call it after locking the session's row."""
    found = holds_on(session)
    if found:
        first = found[0]
        reason = first.reason if first.reason.endswith((".", "!", "?", "…")) else f"{first.reason}."
        raise Conflict(
            f"The session {session.key} has been under legal hold since {first.placed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC, placed by {first.placed_by}: {reason} "
            "It cannot be deleted or erased until an administrator releases the hold.",
            code="on_hold",
            holds=[str(each.id) for each in found],
        )
