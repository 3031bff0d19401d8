"""The progress of a session's replays, and the state of its steps in one of them, for the session's page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Max, Q

from timemachine.core.pure.ids import uuid_of
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.statuses import OPEN_REPLAY_STATUSES, TERMINAL_STEP_STATUSES
from timemachine.replay.runs.queries import replays_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a replay. `reached` is the last finished step, None if there is none."""

    replay: Replay
    done: int
    total: int
    failed: int
    reached: int | None

    @property
    def is_open(self) -> bool:
        """Return whether it is queued or running."""
        return self.replay.status in OPEN_REPLAY_STATUSES


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """The state of a step in a replay: its status, and its verdicts on the answer, the retrieval and the context, if any."""

    sequence: int
    status: str
    verdict: str | None
    retrieval: str | None
    context: str | None


def newest_replays(session: Session, most: int, chosen: Replay | None = None) -> list[Replay]:
    """Return the session's newest independent replays, and the chosen one in any case. One query.

    A trial is shown with its step, and what a comparison or a suite launched is shown there.
    """
    of_its_own = replays_of(session).filter(spend_group=None).exclude(kind="trial")
    found = list(of_its_own[:most])
    return [chosen, *found[: most - 1]] if chosen is not None and chosen not in found else found


def replay_named(session: Session, named: str) -> Replay | None:
    """Return the session's replay with that id; None if there is none. One query, or none if it is not an id."""
    wanted = uuid_of(named)
    return None if wanted is None else Replay.objects.filter(session=session, id=wanted).first()


def progress_of(replays: Sequence[Replay]) -> list[Progress]:
    """Return the progress of each replay. One query."""
    finished = Q(status__in=TERMINAL_STEP_STATUSES)
    steps = ReplayStep.objects.filter(replay__in=replays).order_by().values_list("replay_id")
    counted = steps.annotate(
        done=Count("id", filter=finished),
        total=Count("id"),
        failed=Count("id", filter=Q(status="failed")),
        reached=Max("sequence", filter=finished),
    )
    found = {replay: numbers for replay, *numbers in counted}
    progress = []
    for each in replays:
        done, total, failed, reached = found.get(each.id, (0, 0, 0, None))
        progress.append(Progress(replay=each, done=done, total=total, failed=failed, reached=reached))
    return progress


def states_of(replay: Replay, sequences: Collection[int]) -> list[StepState]:
    """Return the states of these steps in a replay, without those that it does not replay. One query."""
    steps = ReplayStep.objects.filter(replay=replay, sequence__in=sequences)
    of_retrieval = F("retrieval__verdict")
    rows = steps.order_by().values_list("sequence", "status", "verdict", of_retrieval, "context")
    return [
        StepState(sequence=sequence, status=status, verdict=verdict, retrieval=retrieval, context=context)
        for sequence, status, verdict, retrieval, context in rows
    ]
