"""The recorded steps that a replay or comparison repeats and that its evidence includes."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db.models import QuerySet

from timemachine.evidence.models import Seal
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.queries import is_find_inside
from timemachine.replay.runs.models import ReplayStep


def steps_repeated_by(seal: Seal) -> dict[UUID, list[int]]:
    """Return the repeated records by session, including record 0; empty for a session. At most two queries."""
    if seal.replay is not None:
        steps = seal.replay.steps.order_by("sequence").values_list("sequence", flat=True)
        return {seal.replay.session_id: [0, *steps]}
    if seal.comparison_id is None:
        return {}
    cells = ReplayStep.objects.filter(replay__run__comparison=seal.comparison_id)
    return {session: [0, *sequences] for session, sequences in repeated_steps(cells).items()}


def repeated_seals(seal: Seal) -> Iterator[tuple[Session, Seal, Sequence[int]]]:
    """Yield each repeated session that is sealed, with its seal and the records of it. Four queries."""
    found = steps_repeated_by(seal)
    seals = Seal.objects.filter(session__in=found).select_related("session__project")
    for each in seals.order_by("session__started_at", "session"):
        if each.session is not None:
            yield each.session, each, found[each.session.id]


def repeated_steps(steps: QuerySet[ReplayStep]) -> dict[UUID, list[int]]:
    """Return the recorded steps of cells, asks and finds inside them, by session in order of start."""
    asks = Action.objects.filter(id__in=steps.values("action_id"))
    rows = Action.objects.filter(id__in=asks.values("id")) | Action.objects.filter(is_find_inside(asks))
    found: dict[UUID, list[int]] = {}
    for session, sequence in rows.order_by("session__started_at", "session_id", "sequence").values_list(
        "session_id", "sequence"
    ):
        found.setdefault(session, []).append(sequence)
    return found
