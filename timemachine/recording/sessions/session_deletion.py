"""Erase a session: the only exception to append-only."""

from django.db import connection, transaction

from timemachine.core.payloads.commands import drop_unreferenced, payloads_of
from timemachine.recording.sessions.holds import require_no_hold
from timemachine.recording.sessions.models import Session


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
