"""Ending the calls that this process makes for a replay, once somebody has cancelled it."""

import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final
from uuid import UUID

from django.db import Error, connection, connections

from timemachine.core.pure.timers import heartbeat
from timemachine.llm.pure.cancellation import Cancellation, Listening
from timemachine.replay.runs import commands

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
_under_way: Final[dict[UUID, set[Cancellation]]] = defaultdict(set)
_lock: Final = Lock()


@contextmanager
def ending_calls(replay_id: UUID) -> Iterator[None]:
    """While the block runs it is looked every second whether the replay is cancelled; then its calls here end."""

    def look() -> None:
        _look(replay_id)

    with heartbeat(look, every=LOOK_SECONDS, at_end=connections.close_all):
        yield


@contextmanager
def cancellable(replay_id: UUID, listening: Listening) -> Iterator[None]:
    """While the block runs, the call that is listened to so ends with the others of its replay."""
    with _lock:
        _under_way[replay_id].add(listening.cancellation)
    try:
        yield
    finally:
        with _lock:
            _under_way[replay_id].discard(listening.cancellation)
            if not _under_way[replay_id]:
                del _under_way[replay_id]


def _look(replay_id: UUID) -> None:
    try:
        cancelled = commands.is_cancelled(replay_id)
    except Error as why:  # a database that is away comes back
        log.warning("replay %s could not look whether it is cancelled: %s", replay_id, why)
        connection.close()
        return
    if cancelled:
        with _lock:
            calls = list(_under_way.get(replay_id, ()))
        for call in calls:
            call.cancel()
