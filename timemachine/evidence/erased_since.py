"""How much of something recorded was erased, and when last: what a comparison with the seal found before that holds no longer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count, Max, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from timemachine.comparison.models import Comparison
from timemachine.evidence.models import ErasedField, Seal
from timemachine.recording.models import Session
from timemachine.replay.models import Replay


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
    """What was erased of the records of a seal; of a comparison nothing is, it is sealed anew. One query."""
    rows = ErasedField.objects.filter(session=seal.session_id, replay=None)
    if seal.replay_id is not None:
        rows = ErasedField.objects.filter(replay=seal.replay_id)
    return NOTHING_ERASED if seal.comparison_id is not None else _counted(rows)


def erased_through(session: Session, last: int) -> Erased:
    """What was erased of a session and its steps up to one. One query."""
    return _counted(ErasedField.objects.filter(session=session, replay=None, sequence__lte=last))


def erased_around(replay: Replay) -> Erased:
    """What was erased of a replay and of the session that it repeats. One query."""
    recorded = ErasedField.objects.filter(session=replay.session_id, replay=None)
    return _counted(recorded | ErasedField.objects.filter(replay=replay))


def erased_in(comparison: Comparison) -> Erased:
    """What was erased of the sessions and replays that a comparison is made of. One query."""
    replays = Replay.objects.filter(run__comparison=comparison)
    recorded = ErasedField.objects.filter(session__in=replays.values("session"), replay=None)
    return _counted(recorded | ErasedField.objects.filter(replay__in=replays.values("id")))


def _counted(rows: QuerySet[ErasedField]) -> Erased:
    return Erased(**rows.aggregate(fields=Count(WHICH, distinct=True), at=Max("erased_at")))
