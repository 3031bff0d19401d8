"""How much of something was erased, and when last. The result of a check before that does not cover it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from timemachine.evidence.models import ErasedField, Seal
from timemachine.evidence.sealing.repeated_steps import steps_repeated_by
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureSummary:
    """How many fields were erased, and when the last was; None if none was."""

    fields: int = 0
    at: datetime | None = None

    def __bool__(self) -> bool:
        return self.at is not None

    def is_after(self, moment: datetime | None) -> bool:
        """Return whether something was erased after that moment; False for None."""
        return moment is not None and self.at is not None and self.at > moment


NOTHING_ERASED: Final = ErasureSummary()
FIELD_IDENTITY: Final = Concat(
    Cast("replay", TextField()),
    Value("/"),
    Cast("index", TextField()),
    Value("/"),
    "field",
    output_field=TextField(),
)
"""Identifies the field of a row, so that a field that was erased twice counts once."""


def erased_of_seal(seal: Seal) -> ErasureSummary:
    """Return what was erased of a seal's records and of the recorded steps that it repeats. A comparison's
    own records are resealed. At most four queries.
    """
    if seal.session_id is not None:
        return _counted(ErasedField.objects.filter(session=seal.session_id, replay=None))
    if seal.replay is not None:
        return erased_of_replay(seal.replay)
    return erased_of_steps(steps_repeated_by(seal))


def erased_through(session: Session, last: int) -> ErasureSummary:
    """Return what was erased of a session and its steps up to one. One query."""
    return _counted(ErasedField.objects.filter(session=session, replay=None, sequence__lte=last))


def erased_of_replay(replay: Replay) -> ErasureSummary:
    """Return what was erased of a replay and of the recorded steps that it repeats. One query."""
    steps = Q(sequence=0) | Q(sequence__in=replay.steps.values("sequence"))
    recorded = ErasedField.objects.filter(steps, session=replay.session_id, replay=None)
    return _counted(recorded | ErasedField.objects.filter(replay=replay))


def erased_of_comparison(comparison: Comparison) -> ErasureSummary:
    """Return what was erased of a comparison's sessions and replays. One query."""
    replays = Replay.objects.filter(run__comparison=comparison)
    recorded = ErasedField.objects.filter(session__in=replays.values("session"), replay=None)
    return _counted(recorded | ErasedField.objects.filter(replay__in=replays.values("id")))


def erased_of_steps(sessions: Mapping[UUID, Iterable[int]]) -> ErasureSummary:
    """Return what was erased of these steps of sessions (0: the session itself). One query."""
    rows = ErasedField.objects.none()
    for session, sequences in sessions.items():
        rows |= ErasedField.objects.filter(session=session, replay=None, sequence__in=list(sequences))
    return _counted(rows)


def _counted(rows: QuerySet[ErasedField]) -> ErasureSummary:
    return ErasureSummary(**rows.aggregate(fields=Count(FIELD_IDENTITY, distinct=True), at=Max("erased_at")))
