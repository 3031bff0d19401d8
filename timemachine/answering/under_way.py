"""Asks while they are under way: how many one process makes at a time, and ending one from any process."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from timemachine.accounts.models import Project
from timemachine.answering.models import AskUnderWay
from timemachine.base.clock import now
from timemachine.base.errors import Conflict, NotFound, Unavailable
from timemachine.providers.listening import Cancellation
from timemachine.recording.models import Session

LOOK_SECONDS = 0.5
"""How often an ask looks whether it shall end, and says that it lives."""
LOST_AFTER = timedelta(seconds=30)
TRY_AGAIN_SECONDS = 5
PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """An ask that this process makes."""

    id: UUID
    cancellation: Cancellation


@contextmanager
def under_way(project: Project, question: str, *, session: Session | None = None) -> Iterator[UnderWay]:
    """While an ask is made it has a place and can be ended. Raises `Unavailable` (`too_many_asks`) where every place is taken."""
    with _place():
        ask = AskUnderWay.objects.create(project=project, session=session, question=question)
        try:
            with _looking(UnderWay(id=ask.id, cancellation=Cancellation())) as mine:
                yield mine
        finally:
            AskUnderWay.objects.filter(id=ask.id).delete()


def cancel(project: Project, ask_id: UUID) -> None:
    """Ask an ask to end, whichever process makes it; it does within a second. Asked twice is asked once. Raises `NotFound`."""
    found = asks_of(project).filter(id=ask_id)
    if not found.exists():
        raise NotFound(
            "There is no such ask under way; it has ended, and its session has its record.",
            code="ask_not_found",
        )
    found.filter(cancel_wanted_at=None).update(cancel_wanted_at=now())


def asks_of(project: Project) -> QuerySet[AskUnderWay]:
    """The project's asks under way, the oldest first; those of a process that died meanwhile are none."""
    alive = AskUnderWay.objects.filter(project=project, seen_at__gt=now() - LOST_AFTER)
    return alive.order_by("started_at", "id")


def wait_for_asks(session: Session) -> None:
    """Let the session's asks come to their record before it ends. Raises `Conflict` where one takes longer than ten seconds."""
    until = time.monotonic() + PATIENCE_SECONDS
    while asks_of(session.project).filter(session=session).exists():
        if time.monotonic() > until:
            raise Conflict(
                "An ask is under way in this session, and its answer could not be recorded any more; wait for its end, or "
                "cancel it.",
                code="ask_under_way",
            )
        time.sleep(0.1)


def let_go() -> None:
    """Give this thread's database connection back before a long wait, where nothing of it is open."""
    if not connection.in_atomic_block:
        connection.close()


@cache
def _places() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(settings.ASKS_AT_ONCE)


@contextmanager
def _place() -> Iterator[None]:
    if not _places().acquire(blocking=False):
        raise Unavailable(
            f"{settings.ASKS_AT_ONCE} asks are under way here, which is as many as there may be; try again in a few seconds.",
            code="too_many_asks",
            retry_after_seconds=TRY_AGAIN_SECONDS,
        )
    try:
        yield
    finally:
        _places().release()


@contextmanager
def _looking(mine: UnderWay) -> Iterator[UnderWay]:
    over = threading.Event()
    looking = threading.Thread(target=_look, args=(mine, over.wait), name=f"ask {mine.id}", daemon=True)
    looking.start()
    try:
        yield mine
    finally:
        over.set()
        looking.join()


def _look(mine: UnderWay, is_over: Callable[[float], bool]) -> None:
    while not is_over(LOOK_SECONDS):
        row = AskUnderWay.objects.filter(id=mine.id)
        row.update(seen_at=now())
        if row.filter(cancel_wanted_at__isnull=False).exists():
            mine.cancellation.cancel()
        connection.close()
