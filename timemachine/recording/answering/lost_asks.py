"""Record asks whose process died before they ended. Their outcome is unknown, and recorded as such."""

import logging
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TimeMachineError
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft

SILENT_FOR = timedelta(seconds=60)
"""A running ask updates its row twice a second; after this time without an update it counts as lost."""

log = logging.getLogger(__name__)


def record_lost() -> int:
    """Record each lost ask as a failed step of its session, even if that has ended; return how many were lost.

    If one cannot be recorded, it is logged and dropped.
    """
    return sum(_given_up(ask_id) for ask_id in _silent().values_list("id", flat=True))


def _given_up(ask_id: UUID) -> bool:
    try:
        return _record(ask_id)
    except TimeMachineError as why:
        log.error("the lost ask %s could not be recorded: %s", ask_id, why.message)  # noqa: TRY400 - it has a name
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
