"""Running asks: how many one process makes at a time, how any process can end one, and what is recorded of lost ones."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.db import Error, connection, connections, transaction
from django.db.models import QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, NotFound, TimeMachineError
from timemachine.core.pure.timers import heartbeat
from timemachine.knowledge.find import Query, check_query
from timemachine.llm.concurrency import call_slot
from timemachine.llm.pure.cancellation import Cancellation
from timemachine.llm.pure.catalogue import LOCAL, ModelName
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
"""How often an ask checks whether it should end, and updates `seen_at`."""
LOST_AFTER = timedelta(seconds=30)
PATIENCE_SECONDS = 10.0
SILENT_FOR = timedelta(seconds=60)
"""A running ask updates its row twice a second; after this time without an update it counts as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveAsk:
    """An ask that this process makes."""

    id: UUID
    cancellation: Cancellation


@contextmanager
def active_ask(project: Project, question: str, *, session: Session | None = None) -> Iterator[ActiveAsk]:
    """Give an ask a place while it is made, so that it can be ended.

    Raises `Unavailable` (`too_many_asks`) if every place is taken, `InvalidInput` for a question that cannot be
    searched for.
    """
    check_query(Query(text=question))
    with call_slot():
        ask = AskUnderWay.objects.create(project=project, session=session, question=question)
        recorded = True
        try:
            mine = ActiveAsk(id=ask.id, cancellation=Cancellation())
            with heartbeat(partial(_beat, mine), every=LOOK_SECONDS, at_end=connections.close_all):
                yield mine
        except Error:  # its record could not be written; the job for lost asks will do it
            recorded = False
            raise
        finally:
            if recorded:
                AskUnderWay.objects.filter(id=ask.id).delete()


def note_model_call(ask_id: UUID | None, model: ModelName) -> None:
    """Store which model is called, so that a lost ask counts as a call of it. Local models cost nothing and are not stored."""
    if ask_id is not None and model.provider != LOCAL:
        AskUnderWay.objects.filter(id=ask_id).update(model=str(model))


def finish_recorded(ask_id: UUID | None) -> None:
    """End an ask in the transaction that records it: it is either recorded or lost.

    Raises `Conflict` (`ask_lost`) if it was silent so long that it has been recorded as lost.
    """
    if ask_id is None or AskUnderWay.objects.filter(id=ask_id).delete()[0]:
        return
    raise Conflict(
        "This ask stopped responding and was recorded as lost, so its answer was not recorded. It may have been billed. Ask "
        "again.",
        code="ask_lost",
    )


def cancel(project: Project, ask_id: UUID) -> None:
    """Ask a running ask to end, whichever process makes it; it ends within a second. Repeating this is harmless. Raises
    `NotFound`."""
    found = asks_of(project).filter(id=ask_id)
    if not found.exists():
        raise NotFound(
            "No such ask is running. If it has finished, its record is in the session.",
            code="ask_not_found",
        )
    found.filter(cancel_wanted_at=None).update(cancel_wanted_at=now())


def asks_of(project: Project) -> QuerySet[AskUnderWay]:
    """Return the project's running asks, the oldest first, without those of dead processes."""
    alive = AskUnderWay.objects.filter(project=project, seen_at__gt=now() - LOST_AFTER)
    return alive.order_by("started_at", "id")


def wait_for_asks(session: Session) -> None:
    """Wait until the session's asks are recorded, before it ends. Raises `Conflict` if one takes longer than ten seconds."""
    until = time.monotonic() + PATIENCE_SECONDS
    while asks_of(session.project).filter(session=session).exists():
        if time.monotonic() > until:
            raise Conflict(
                "An ask is still running in this session, and its answer could not be recorded after the session ends. Wait for it "
                "or cancel it.",
                code="ask_under_way",
            )
        time.sleep(0.1)


def record_lost() -> int:
    """Record each lost ask as a failed step of its session, even if that has ended; return how many were lost.

    If one cannot be recorded, it is logged and dropped.
    """
    return sum(_given_up(ask_id) for ask_id in _silent().values_list("id", flat=True))


def _beat(mine: ActiveAsk) -> None:
    row = AskUnderWay.objects.filter(id=mine.id)
    try:
        row.update(seen_at=now())
        if row.filter(cancel_wanted_at__isnull=False).exists():
            mine.cancellation.cancel()
    except Error as why:  # the database may come back, and then the ask must still count as running
        log.warning("ask %s could not update its heartbeat: %s", mine.id, why)
    finally:
        connection.close()


def _given_up(ask_id: UUID) -> bool:
    try:
        return _record(ask_id)
    except TimeMachineError as why:
        log.error("the lost ask %s could not be recorded: %s", ask_id, why.code)  # noqa: TRY400 - it has a name
        return bool(_silent().filter(id=ask_id).delete()[0])


@transaction.atomic
def _record(ask_id: UUID) -> bool:
    ask = _silent().filter(id=ask_id).first()
    if ask is None:
        return False
    # the session before the ask, in the order in which erasing and recording lock them
    if ask.session_id is not None:
        Session.objects.select_for_update().filter(id=ask.session_id).first()
    taken, _ = _silent().filter(id=ask_id).delete()
    if taken and ask.session_id is not None:
        append(ask.session_id, [_draft(ask)], was_open=True)
    return bool(taken)  # not if another process was first, or the ask came back


def _silent() -> QuerySet[AskUnderWay]:
    return AskUnderWay.objects.filter(seen_at__lt=now() - SILENT_FOR)


def _draft(ask: AskUnderWay) -> ActionDraft:
    return ActionDraft(
        kind="ask",
        layer="agent",
        started_at=ask.started_at,
        input=ask.question,
        model=ask.model,
        error_type="ask_lost",
        error_message=(
            "The process stopped before the answer was recorded. It is unknown whether a model was called; "
            "the call may have been billed."
            if ask.model is None
            else f"The process stopped before the answer of {ask.model} was recorded. The call may have been billed."
        ),
    )
