"""Locking the seals that an erasure changes."""

from timemachine.evidence.models import Seal
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison


def seals_over(session: Session) -> list[Seal]:
    """Every seal of the session, its replays and the comparisons of these, oldest first; locked until the transaction ends."""
    compared = Comparison.objects.filter(runs__replay__session=session)
    seals = (
        Seal.objects.filter(session=session)
        | Seal.objects.filter(replay__session=session)
        | Seal.objects.filter(comparison__in=compared)
    )
    return list(seals.select_for_update(of=("self",)).order_by("id"))
