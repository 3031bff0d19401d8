"""Ending the calls that this process makes for a replay when someone cancels it."""

import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from threading import Lock
from typing import Final
from uuid import UUID

from django.db import Error, connection, connections

from timemachine.core.pure.timers import heartbeat
from timemachine.llm.pure.cancellation import Cancellation, Listening
from timemachine.replay.runs import commands

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
_running: Final[dict[UUID, set[Cancellation]]] = defaultdict(set)
_lock: Final = Lock()


def watch_for_cancellation(replay_id: UUID) -> AbstractContextManager[None]:
    """While the block runs, check every second whether the replay is cancelled, and if so end its calls in this process."""
    check = partial(_cancel_if_requested, replay_id)
    return heartbeat(check, every=LOOK_SECONDS, at_end=connections.close_all)


@contextmanager
def cancellable(replay_id: UUID, listening: Listening) -> Iterator[None]:
    """While the block runs, the call of this listener ends when its replay is cancelled."""
    with _lock:
        _running[replay_id].add(listening.cancellation)
    try:
        yield
    finally:
        with _lock:
            _running[replay_id].discard(listening.cancellation)
            if not _running[replay_id]:
                del _running[replay_id]


def _cancel_if_requested(replay_id: UUID) -> None:
    try:
        cancelled = commands.is_cancelled(replay_id)
    except Error as why:  # the database may be back at the next check
        log.warning("cannot check whether replay %s is cancelled: %s", replay_id, why)
        connection.close()
        return
    if cancelled:
        with _lock:
            calls = list(_running.get(replay_id, ()))
        for call in calls:
            call.cancel()
