"""The recorded steps that a replay or a comparison repeats, and that its evidence brings: whose seal has them, and which of its records they are."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from timemachine.evidence.models import Seal
from timemachine.evidence.sealing.comparison_records import repeated
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import ReplayStep


def repeated_by(seal: Seal) -> dict[UUID, list[int]]:
    """The records of each session, the session itself among them; none for the seal of a session. At most two queries."""
    if seal.replay is not None:
        steps = seal.replay.steps.order_by("sequence").values_list("sequence", flat=True)
        return {seal.replay.session_id: [0, *steps]}
    if seal.comparison_id is None:
        return {}
    cells = ReplayStep.objects.filter(replay__run__comparison=seal.comparison_id)
    return {session: [0, *sequences] for session, sequences in repeated(cells).items()}


def seals_behind(seal: Seal) -> Iterator[tuple[Session, Seal, Sequence[int]]]:
    """Each session that is repeated there, with its seal and which records of it are. Where that seal is gone, a link of the records says so. Four queries."""
    found = repeated_by(seal)
    seals = Seal.objects.filter(session__in=found).select_related("session__project")
    for each in seals.order_by("session__started_at", "session"):
        if each.session is not None:
            yield each.session, each, found[each.session.id]
