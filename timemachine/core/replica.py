"""Reads that a streaming replica answers, if `DATABASE_REPLICA_URL` names one.

`read_from_replica` is the only place that decides. What it reads is never older than the moment at which it was called: it
asks the primary how far its log is, and waits a moment for the replica to be as far. If the replica needs longer, or does not
answer, the primary answers, and the replica is left alone for a few seconds.

Inside, this thread's default connection is that of the replica, so that queries need not know of it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from threading import Lock
from time import monotonic, sleep
from typing import Final

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.dispatch import Signal
from psycopg_pool import PoolTimeout

log = logging.getLogger(__name__)

ALIAS: Final = "replica"
PAUSE_SECONDS: Final = 3.0
"""How long the primary answers everything after the replica was too far behind or did not answer. It doubles with each
failure after the first, up to `LONGEST_PAUSE`.
"""
LONGEST_PAUSE: Final = 30.0
_STEP: Final = 0.002  # seconds
_POSITION: Final = """
SELECT CASE current_setting('synchronous_commit')
        WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn()
    END::text,
    (SELECT system_identifier FROM pg_control_system())
"""
"""A commit that was confirmed is on the disk, unless the operator chose not to wait for that."""
_IS_THERE: Final = """
SELECT pg_is_in_recovery(), (SELECT system_identifier FROM pg_control_system()),
    greatest(pg_wal_lsn_diff(%s, coalesce(pg_last_wal_replay_lsn(), '0/0')), 0)::bigint
"""
_FAILURES: Final = (Error, psycopg.Error, PoolTimeout)

REPLICA: Final = "replica"
BEHIND: Final = "primary: the replica was behind"
AWAY: Final = "primary: the replica did not answer"
PAUSED: Final = "primary: the replica is left alone"
replica_read: Final = Signal()
"""Sent with `answered_by`, one of these, after each read that the replica could answer."""


class _NotUsable(Exception):
    """The replica cannot answer now, for one of these reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaState:
    """How many bytes of the primary's log the replica lacks. `problem` says why it does not answer, if it does not."""

    behind: int | None
    problem: str | None


class _Rest:
    """After a failure, the replica is tried again by one thread at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._until: float | None = None
        self._pause = PAUSE_SECONDS

    def is_over(self) -> bool:
        """Return whether to use the replica. During a rest, only the first thread after it gets True."""
        with self._lock:
            if self._until is None:
                return True
            if monotonic() < self._until:
                return False
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self._until = monotonic() + self._pause
            return True

    def begin(self) -> bool:
        """Begin or extend a rest. Return whether it is new."""
        with self._lock:
            is_new = self._until is None
            if is_new:
                self._pause = PAUSE_SECONDS
            self._until = monotonic() + self._pause
            return is_new

    def end(self) -> bool:
        """The replica has answered. Return whether it had not before."""
        with self._lock:
            was_resting, self._until = self._until is not None, None
            return was_resting


_REST: Final = _Rest()


def has_replica() -> bool:
    """Return whether there is a replica."""
    return ALIAS in settings.DATABASES


def read_from_replica[**P, Result](read: Callable[P, Result]) -> Callable[P, Result]:
    """Decorate a function that only reads, and whose result reads nothing later. If the replica fails, it is called again."""

    @wraps(read)
    def answer(*args: P.args, **kwargs: P.kwargs) -> Result:
        if not has_replica() or connection.in_atomic_block:
            return read(*args, **kwargs)
        answered_by = PAUSED
        if _REST.is_over():
            position = _position_of_primary()
            try:
                with _replica_as_default(position):
                    result = read(*args, **kwargs)
            except _NotUsable as why:
                answered_by = str(why)
            except _FAILURES as why:
                answered_by = AWAY
                _rest(why)
            else:
                replica_read.send(None, answered_by=REPLICA)
                return result
        replica_read.send(None, answered_by=answered_by)
        return read(*args, **kwargs)

    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Position:
    """How far the log of the primary was, and the identifier that it shares with its replicas."""

    log: str
    system: int


def _position_of_primary() -> _Position:
    with connection.cursor() as cursor:
        cursor.execute(_POSITION)
        written, system = cursor.fetchone()
    return _Position(log=written, system=system)


@contextmanager
def _replica_as_default(position: _Position) -> Iterator[None]:
    """Use the replica's connection. Raises `_NotUsable` before anything is read if it cannot be used."""
    primary, replica = connections[DEFAULT_DB_ALIAS], connections[ALIAS]
    _wait_for(replica, position)
    connections[DEFAULT_DB_ALIAS] = replica
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = primary


def _wait_for(replica: BaseDatabaseWrapper, position: _Position) -> None:
    """Wait until the replica has everything up to a position in the log."""
    give_up = monotonic() + settings.REPLICA_WAIT_SECONDS
    try:
        while _behind(replica, position):
            if monotonic() > give_up:
                _rest("it is too far behind")
                raise _NotUsable(BEHIND)
            sleep(_STEP)
    except _FAILURES as why:
        _rest(why)
        raise _NotUsable(AWAY) from why
    if _REST.end():
        log.info("the replica answers again")


def _behind(replica: BaseDatabaseWrapper, position: _Position) -> int:
    """Return how many bytes of the log it lacks. Raises `OperationalError` if it is no replica of this primary."""
    with replica.cursor() as cursor:
        cursor.execute(_IS_THERE, [position.log])
        is_replica, its_system, behind = cursor.fetchone()
    if not is_replica or its_system != position.system:
        raise psycopg.OperationalError("it is not a replica of the database in DATABASE_URL")
    return int(behind)


def _rest(why: object) -> None:
    if _REST.begin():
        log.warning("the replica is not used: %s", str(why).partition("\n")[0])
    connections[ALIAS].close_if_unusable_or_obsolete()


def replica_state() -> ReplicaState:
    """Return the state of the replica, whether or not it is used at the moment."""
    position = _position_of_primary()
    try:
        behind = _behind(connections[ALIAS], position)
    except _FAILURES as why:
        connections[ALIAS].close_if_unusable_or_obsolete()
        return ReplicaState(behind=None, problem=str(why).partition("\n")[0])
    return ReplicaState(behind=behind, problem=None)
