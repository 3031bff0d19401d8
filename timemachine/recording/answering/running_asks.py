"""Asks while they are under way: how many one process makes at a time, and ending one from any process."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import Error, connection
from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, NotFound
from timemachine.knowledge.find import Query, check
from timemachine.llm.concurrency import call_slot
from timemachine.llm.pure.cancellation import Cancellation
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.sessions.models import Session

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
"""How often an ask looks whether it shall end, and says that it lives."""
LOST_AFTER = timedelta(seconds=30)
PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """An ask that this process makes."""

    id: UUID
    cancellation: Cancellation


@contextmanager
def under_way(project: Project, question: str, *, session: Session | None = None) -> Iterator[UnderWay]:
    """While an ask is made it has a place and can be ended.

    Raises `Unavailable` (`too_many_asks`) where every place is taken, `InvalidInput` for a question that cannot be looked for.
    """
    check(Query(text=question))
    with call_slot():
        ask = AskUnderWay.objects.create(project=project, session=session, question=question)
        recorded = True
        try:
            with _looking(UnderWay(id=ask.id, cancellation=Cancellation())) as mine:
                yield mine
        except Error:  # its record could not be written: the sweeper does it, once this ask is silent
            recorded = False
            raise
        finally:
            if recorded:
                AskUnderWay.objects.filter(id=ask.id).delete()


def calls(ask_id: UUID | None, model: ModelName) -> None:
    """Note which model is called from now on, so that an ask that is lost counts as a call of it. A local one costs nothing."""
    if ask_id is not None and model.provider != LOCAL:
        AskUnderWay.objects.filter(id=ask_id).update(model=str(model))


def come_to_its_record(ask_id: UUID | None) -> None:
    """End an ask in the transaction that records it: it is recorded or lost, never both.

    Raises `Conflict` (`ask_lost`) where it was silent for so long that it was recorded as lost meanwhile.
    """
    if ask_id is None or AskUnderWay.objects.filter(id=ask_id).delete()[0]:
        return
    raise Conflict(
        "This ask was silent for so long that it is recorded as lost already, so its answer is not recorded. It may have been "
        "billed; ask again.",
        code="ask_lost",
    )


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
        try:
            _say_alive(mine)
        except Error as why:  # a database that is away comes back, and then the ask still has to be seen
            log.warning("ask %s could not say that it lives: %s", mine.id, why)
        finally:
            connection.close()


def _say_alive(mine: UnderWay) -> None:
    row = AskUnderWay.objects.filter(id=mine.id)
    row.update(seen_at=now())
    if row.filter(cancel_wanted_at__isnull=False).exists():
        mine.cancellation.cancel()
