"""How much of something recorded was erased, and when last: what a comparison with the seal found before that holds no longer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from timemachine.evidence.models import ErasedField, Seal
from timemachine.evidence.sealing.repeated_steps import repeated_by
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """How many fields were erased of it, and when the last of them; None where none was."""

    fields: int = 0
    at: datetime | None = None

    def __bool__(self) -> bool:
        return self.at is not None

    def is_after(self, moment: datetime | None) -> bool:
        """Whether something was erased after that; not where there was no such moment."""
        return moment is not None and self.at is not None and self.at > moment


NOTHING_ERASED: Final = Erased()
WHICH: Final = Concat(
    Cast("replay", TextField()),
    Value("/"),
    Cast("index", TextField()),
    Value("/"),
    "field",
    output_field=TextField(),
)
"""Which field of which record a row is of: one of which something was erased twice counts once."""


def erased_of_seal(seal: Seal) -> Erased:
    """What was erased of the records of a seal, and of the recorded steps that it repeats. A comparison's own records are sealed anew. At most four queries."""
    if seal.session_id is not None:
        return _counted(ErasedField.objects.filter(session=seal.session_id, replay=None))
    if seal.replay is not None:
        return erased_around(seal.replay)
    return erased_among(repeated_by(seal))


def erased_through(session: Session, last: int) -> Erased:
    """What was erased of a session and its steps up to one. One query."""
    return _counted(ErasedField.objects.filter(session=session, replay=None, sequence__lte=last))


def erased_around(replay: Replay) -> Erased:
    """What was erased of a replay and of the recorded steps that it repeats. One query."""
    steps = Q(sequence=0) | Q(sequence__in=replay.steps.values("sequence"))
    recorded = ErasedField.objects.filter(steps, session=replay.session_id, replay=None)
    return _counted(recorded | ErasedField.objects.filter(replay=replay))


def erased_in(comparison: Comparison) -> Erased:
    """What was erased of the sessions and replays that a comparison is made of. One query."""
    replays = Replay.objects.filter(run__comparison=comparison)
    recorded = ErasedField.objects.filter(session__in=replays.values("session"), replay=None)
    return _counted(recorded | ErasedField.objects.filter(replay__in=replays.values("id")))


def erased_among(sessions: Mapping[UUID, Iterable[int]]) -> Erased:
    """What was erased of these steps of sessions (0: the session itself). One query."""
    rows = ErasedField.objects.none()
    for session, sequences in sessions.items():
        rows |= ErasedField.objects.filter(session=session, replay=None, sequence__in=list(sequences))
    return _counted(rows)


def _counted(rows: QuerySet[ErasedField]) -> Erased:
    return Erased(**rows.aggregate(fields=Count(WHICH, distinct=True), at=Max("erased_at")))
