"""The counters of a session, counted again from its actions: for checks, and after an erasure."""

from itertools import batched
from typing import Final

from timemachine.recording.sessions.action_rows import COUNTED, COUNTERS, add_to_counters
from timemachine.recording.sessions.models import Action, Session

BATCH: Final = 1_000


def counted_again(session: Session) -> Session:
    """Return an unsaved session with the counters that its actions add up to. One query."""
    counted = Session()
    rows = Action.objects.filter(session=session).order_by("sequence").values(*COUNTED)
    for batch in batched(rows.iterator(chunk_size=BATCH), BATCH, strict=False):
        add_to_counters(counted, batch)
    return counted


def count_again(session: Session) -> None:
    """Store the counters that the actions add up to: what was erased may have been an error or a model."""
    counted = counted_again(session)
    for name in COUNTERS:
        setattr(session, name, getattr(counted, name))
    session.save(update_fields=COUNTERS)
