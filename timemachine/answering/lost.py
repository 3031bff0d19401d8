"""Asks whose process died before they ended: what became of them is not known, and that is what is recorded."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction

from timemachine.answering.models import AskUnderWay
from timemachine.base.clock import now
from timemachine.recording.commands import append
from timemachine.recording.draft import ActionDraft
from timemachine.recording.models import Session

SILENT_FOR = timedelta(seconds=60)
"""An ask says twice a second that it lives; after so long without that word it is given up."""


def record_lost() -> int:
    """Record each ask that was lost as a failed step of its session, where that is still open. Returns how many were lost."""
    lost = AskUnderWay.objects.filter(seen_at__lt=now() - SILENT_FOR).values_list("id", flat=True)
    return sum(_record(ask_id) for ask_id in lost)


@transaction.atomic
def _record(ask_id: UUID) -> bool:
    asks = AskUnderWay.objects.select_for_update(skip_locked=True, of=("self",)).select_related("session")
    ask = asks.filter(id=ask_id, seen_at__lt=now() - SILENT_FOR).first()
    if ask is None:  # another process records it, or it came back
        return False
    if ask.session is not None and ask.session.status == Session.RECORDING:
        append(ask.session.id, [_draft(ask)])
    ask.delete()
    return True


def _draft(ask: AskUnderWay) -> ActionDraft:
    return ActionDraft(
        kind="ask",
        layer="agent",
        started_at=ask.started_at,
        input=ask.question,
        error_type="ask_lost",
        error_message=(
            "The process that asked stopped before the answer was recorded. Whether a model was called is not known; "
            "it may have been billed."
        ),
    )
