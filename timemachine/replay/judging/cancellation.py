"""Cancelling a judgement from any process: its row carries the request, and the process that makes the call polls it."""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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
    """Request that a judgement ends, in whichever process it runs; it does within a second. Cancelling twice has no further effect.

    Raises: `Conflict` if it has finished.
    """
    asking = Judgement.objects.filter(id=judgement.id, state=ASKING, created_at__gte=now() - LONGEST_CALL)
    if not asking.exists():
        raise Conflict("This judgement has already finished.", code="judgement_over")
    asking.filter(cancel_wanted_at=None).update(cancel_wanted_at=now())


def cancellable(judgement: Judgement) -> AbstractContextManager[Listening]:
    """While the judge is called, the call ends when cancellation is requested."""
    is_cancelled = Judgement.objects.filter(id=judgement.id, cancel_wanted_at__isnull=False)
    return cancel_when(is_cancelled.exists, f"judgement {judgement.id}")


@contextmanager
def cancel_when(
    is_cancelled: Callable[[], bool], name: str, on_wait: Callable[[RetryWait], None] = ignore
) -> Iterator[Listening]:
    """While the block runs, check twice a second whether this call must end. The check reads a row, so any process can request it.

    `on_wait` runs each time that the model is busy and is tried again later.
    """
    listening = Listening(on_wait=on_wait)

    def look() -> None:
        try:
            if is_cancelled():
                listening.cancellation.cancel()
        except Error as why:  # the database may be back at the next check
            log.warning("cannot check whether %s must end: %s", name, why)
        finally:
            connection.close()

    with heartbeat(look, every=LOOK_SECONDS, at_end=connections.close_all):
        yield listening
