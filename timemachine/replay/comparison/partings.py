"""Where the runs of a comparison first do something else than the recording."""

from collections.abc import Sequence

from django.db.models import QuerySet

from timemachine.core.pure.schemas import Schema
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.pure.cells import NOISE
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.verdict_sentence import verdict_sentence
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.summary import FirstDivergence
from timemachine.replay.runs.pure.verdict_words import instead
from timemachine.replay.runs.tallies import first_divergences


class Parting(Schema):
    """A run of an arm over one session, and the first model call in which it does something else than the recording; null
    for a run that does the same throughout."""

    arm: int
    run: int
    session: str
    replay_id: str
    first_divergence: FirstDivergence | None


def partings_of(comparison: Comparison) -> list[Parting]:
    """Return the partings of a comparison's runs."""
    return partings_in(ReplayStep.objects.filter(replay__run__comparison=comparison))


def partings_in(steps: QuerySet[ReplayStep]) -> list[Parting]:
    """Return every run that these steps of a comparison belong to, if model calls of it were answered. Two queries."""
    answered = steps.filter(kind=MODEL_CALL, verdict__isnull=False).exclude(replay__run__repeat=NOISE)
    columns = "replay__run__arm", "replay__run__repeat", "replay__session_id", "replay_id"
    runs = answered.order_by(*columns).values_list(*columns).distinct()
    found = first_divergences(answered)
    return [
        Parting.model_construct(
            arm=arm,
            run=repeat,
            session=str(session),
            replay_id=str(replay),
            first_divergence=found.get(replay),
        )
        for arm, repeat, session, replay in runs
    ]


def summary_of(found: Findings, names: Sequence[str], partings: Sequence[Parting]) -> str:
    """Return the findings in one sentence, and where each variant first diverges from the recording."""
    parts = [
        _parts(name, [each.first_divergence for each in partings if each.arm == arm])
        for arm, name in enumerate(names, 1)
    ]
    said = "; ".join(filter(None, parts))
    return f"{verdict_sentence(found, names)}{f' {said}.' if said else ''}"


def _parts(name: str, runs: Sequence[FirstDivergence | None]) -> str:
    """Return where a variant first diverges from the recording; empty if it does not."""
    found = [each for each in runs if each is not None]
    if not found:
        return ""
    first = min(found, key=lambda each: each.sequence)
    if len(runs) > 1:
        return f"{name} diverges from the recording in {len(found):,} of {len(runs):,} runs, first at step {first.sequence:,}"
    step = f"step {first.sequence:,}, where it {instead(first.verdict)}"
    if first.earlier_unanswered:
        return f"{name} first differs, among the replayed steps, at {step}"
    return f"{name} first diverges from the recording at {step}"
