"""Ending a judgement from any process: its row says that it shall end, and the process that asks looks there."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.db import Error, connection, connections

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict
from timemachine.core.pure.timers import heartbeat
from timemachine.llm.pure.cancellation import Listening, RetryWait, ignore
from timemachine.replay.judging.models import ASKING, LONGEST_CALL, Judgement

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.5


def cancel(judgement: Judgement) -> None:
    """Ask a judgement to end, whichever process makes it; it does within a second. Asked twice is asked once.

    Raises `Conflict` where it is over.
    """
    asking = Judgement.objects.filter(id=judgement.id, state=ASKING, created_at__gte=now() - LONGEST_CALL)
    if not asking.exists():
        raise Conflict("This judgement is over; there is nothing to cancel.", code="judgement_over")
    asking.filter(cancel_wanted_at=None).update(cancel_wanted_at=now())


@contextmanager
def cancellable(judgement: Judgement) -> Iterator[Listening]:
    """While the judge is asked, the call ends once somebody wants it to."""
    wanted = Judgement.objects.filter(id=judgement.id, cancel_wanted_at__isnull=False)
    with ending_when(wanted.exists, f"judgement {judgement.id}") as listening:
        yield listening


@contextmanager
def ending_when(
    wanted: Callable[[], bool], name: str, on_wait: Callable[[RetryWait], None] = ignore
) -> Iterator[Listening]:
    """While the block runs it is asked twice a second whether this call is to end; a row tells so, from whichever process.

    `on_wait` hears each time that the model is busy and asked again later.
    """
    listening = Listening(on_wait=on_wait)

    def look() -> None:
        try:
            if wanted():
                listening.cancellation.cancel()
        except Error as why:  # a database that is away comes back
            log.warning("%s could not look whether it shall end: %s", name, why)
        finally:
            connection.close()

    with heartbeat(look, every=LOOK_SECONDS, at_end=connections.close_all):
        yield listening
