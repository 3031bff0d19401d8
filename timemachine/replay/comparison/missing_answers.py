"""Why answers of a comparison are missing: errors of the models, and why a model was not asked."""

from itertools import groupby, islice
from operator import itemgetter
from typing import Final

from django.db.models import Count
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, Left

from timemachine.core.payloads.fields import FaithfulTextField
from timemachine.core.pure.schemas import Schema
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALLS
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.tallies import MESSAGE_SHOWN

_MOST_REASONS: Final = 3
"""How many reasons are listed for a variant."""


class MissingAnswers(Schema):
    """How many answers of an arm are missing for the same reason: an error, or why its model was not asked."""

    arm: int
    answers: int
    reason: str


def missing_answers(comparison: Comparison) -> list[MissingAnswers]:
    """Return why answers of the variants are missing, for each variant the most frequent reasons first. One query."""
    text = FaithfulTextField()
    reason = Coalesce("error_message", KeyTextTransform("not_asked", "evidence"), output_field=text)
    rows = (
        ReplayStep.objects.filter(replay__run__comparison=comparison, kind__in=MODEL_CALLS)
        .annotate(reason=Left(reason, MESSAGE_SHOWN, output_field=text))
        .filter(reason__isnull=False)
        .values("replay__run__arm", "reason")
        .annotate(answers=Count("id"))
        .order_by("replay__run__arm", "-answers", "reason")
    )
    return [
        MissingAnswers(arm=arm, answers=row["answers"], reason=row["reason"])
        for arm, of_arm in groupby(rows, key=itemgetter("replay__run__arm"))
        for row in islice(of_arm, _MOST_REASONS)
    ]
