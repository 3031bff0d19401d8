"""What is to be sealed: sessions that ended or recorded for a while, and replays that are over."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q

from timemachine.base.clock import now
from timemachine.evidence import checkpoint
from timemachine.recording.models import Session
from timemachine.replay.models import Replay

MOST: Final = 100


def sessions() -> list[UUID]:
    """Sessions whose seal lacks something: those that ended, and those that record and were not sealed for `SEAL_SECONDS`."""
    ended, recording = Q(status=Session.ENDED), Q(status=Session.RECORDING)
    unsealed = Q(seals=None) | Q(seals__signed_size__lte=F("last_sequence"))
    patience = now() - timedelta(seconds=settings.SEAL_SECONDS)
    waited = Q(seals=None, created_at__lt=patience) | Q(seals__signed_at__lt=patience)
    due = (ended & (unsealed | ~Q(seals__state=checkpoint.CLOSED))) | (recording & unsealed & waited)
    found = Session.objects.filter(due, seals__problem=None, last_sequence__gte=1)
    return list(found.order_by("id").values_list("id", flat=True)[:MOST])


def replays() -> list[UUID]:
    """Replays that are over, of recorded sessions, and have no seal of their last run."""
    sealed = Q(seals__run_ended_at=F("finished_at"))
    found = (
        Replay.objects.filter(finished_at__isnull=False).exclude(sealed).exclude(seals__problem__isnull=False)
    )
    return list(found.order_by("id").values_list("id", flat=True)[:MOST])
