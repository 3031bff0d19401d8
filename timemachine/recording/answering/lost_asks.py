"""Asks whose process died before they ended: what became of them is not known, and that is what is recorded."""

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
"""An ask says twice a second that it lives; after so long without that word it is given up."""

log = logging.getLogger(__name__)


def record_lost() -> int:
    """Record each ask that was lost as a failed step of its session, also where that has ended. Returns how many were lost.

    One that cannot be recorded is in the log and forgotten, so that it stands in nobody's way.
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
    # its session before the ask, as erasing and recording lock them
    if ask.session_id is not None:
        Session.objects.select_for_update().filter(id=ask.session_id).first()
    taken, _ = _silent().filter(id=ask_id).delete()
    if taken and ask.session_id is not None:
        append(ask.session_id, [_draft(ask)], was_open=True)
    return bool(taken)  # not where another process was first, or it came back


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
            "The process that asked stopped before the answer was recorded. Whether a model was called is not known; "
            "it may have been billed."
            if ask.model is None
            else f"The process that asked {ask.model} stopped before the answer was recorded; the call may have been billed."
        ),
    )
