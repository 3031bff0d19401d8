"""Which workers run: each writes that it does, every few seconds."""

import logging
import os
import socket
from contextlib import ExitStack
from datetime import timedelta
from typing import Any, Final

from celery.signals import worker_ready, worker_shutdown
from django.db import Error, connection, connections

from timemachine.core.pure.clock import now
from timemachine.core.pure.timers import heartbeat
from timemachine.jobs.alive import SILENT_AFTER
from timemachine.jobs.models import Worker

log = logging.getLogger(__name__)

EVERY: Final = 10.0
"""Seconds between two signs of life."""
_FORGOTTEN_AFTER: Final = timedelta(hours=1)
_RUNNING: Final = ExitStack()


def running() -> int:
    """Return how many workers were seen recently."""
    return Worker.objects.filter(seen_at__gte=now() - SILENT_AFTER).count()


class SignOfLife:
    """Writes that this worker runs."""

    def __init__(self) -> None:
        self._worker = Worker(host=socket.gethostname(), process=os.getpid(), started_at=now(), seen_at=now())

    def beat(self) -> None:
        """Write it now. If the database is unreachable, this is logged, and the next beat tries again."""
        self._worker.seen_at = now()
        try:
            self._worker.save()
            Worker.objects.filter(seen_at__lt=now() - _FORGOTTEN_AFTER).delete()
        except Error as why:
            log.warning("a sign of life could not be written: %s", str(why).partition("\n")[0])
            connection.close()

    def end(self) -> None:
        """Delete the row: this worker stops."""
        try:
            Worker.objects.filter(pk=self._worker.pk).delete()
        except Error as why:
            log.info("the database is unreachable while the worker stops: %s", str(why).partition("\n")[0])
        connections.close_all()


@worker_ready.connect(weak=False)
def begin(**_: Any) -> None:
    """Write that this worker runs, now and until it stops."""
    sign = SignOfLife()
    sign.beat()
    _RUNNING.enter_context(heartbeat(sign.beat, every=EVERY, at_end=sign.end))


@worker_shutdown.connect(weak=False)
def end(**_: Any) -> None:
    """Stop writing it."""
    _RUNNING.close()
