"""The one named way out of append-only: lawful erasure of a whole session."""

from django.db import connection, transaction

from timemachine.payloads.commands import drop_unreferenced
from timemachine.payloads.models import Payload
from timemachine.recording.models import Session


@transaction.atomic
def erase_session(session: Session) -> int:
    """Remove a session with its actions, hits, replays, share links and the payloads that nothing else uses.

    Returns how many actions were removed. The trigger lets rows be deleted in this transaction only.
    """
    removed = Session.objects.select_for_update().get(id=session.id).last_sequence
    payloads = _payloads_of(session)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL timemachine.erasing = 'on'")
        cursor.execute("DELETE FROM tm_session WHERE id = %s", [session.id])
        drop_unreferenced(payloads)
        cursor.execute("SET LOCAL timemachine.erasing = 'off'")
    return removed


def _payloads_of(session: Session) -> list[int]:
    used = """
        SELECT unnest(ARRAY[input_id, output_id, source_id]) FROM tm_action WHERE session_id = %s
        UNION
        SELECT payload_id FROM tm_hit JOIN tm_action ON tm_action.id = tm_hit.action_id WHERE session_id = %s
    """
    with connection.cursor() as cursor:
        cursor.execute(used, [session.id, session.id])
        ids = {row[0] for row in cursor.fetchall()}
    return list(Payload.objects.filter(id__in=ids - {None}).values_list("id", flat=True))
