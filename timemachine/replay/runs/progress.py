"""How far replays of a session are, and what became of its steps in one of them, for who looks at the session."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, F, Max

from timemachine.core.pure.ids import uuid_of
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.statuses import OPEN_REPLAY_STATUSES, TERMINAL_STEP_STATUSES
from timemachine.replay.runs.queries import replays_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A replay: how many of its steps are over, of how many, how many failed, and the last that is over, None where none is."""

    replay: Replay
    done: int
    total: int
    failed: int
    reached: int | None

    @property
    def is_open(self) -> bool:
        """Whether it is queued or runs."""
        return self.replay.status in OPEN_REPLAY_STATUSES


@dataclass(frozen=True, slots=True, kw_only=True)
class StepState:
    """What became of a step in a replay: its status, and as far as it has one its verdict, that of its retrieval, and of its context."""

    sequence: int
    status: str
    verdict: str | None
    retrieval: str | None
    context: str | None


def newest_replays(session: Session, most: int, chosen: Replay | None = None) -> list[Replay]:
    """The session's newest replays that stand for themselves, and the chosen one wherever it is. One query.

    A trial belongs to its step, and what a comparison or a suite launched is shown there.
    """
    of_its_own = replays_of(session).filter(spend_group=None).exclude(kind="trial")
    found = list(of_its_own[:most])
    return [chosen, *found[: most - 1]] if chosen is not None and chosen not in found else found


def replay_named(session: Session, named: str) -> Replay | None:
    """The session's replay of that id; None where it has none. One query, none where it can be no id."""
    wanted = uuid_of(named)
    return None if wanted is None else Replay.objects.filter(session=session, id=wanted).first()


def progress_of(replays: Sequence[Replay]) -> list[Progress]:
    """How far each of the replays is. One query for any number of them."""
    done: dict[UUID, int] = {}
    total: dict[UUID, int] = {}
    failed: dict[UUID, int] = {}
    reached: dict[UUID, int] = {}
    counted = ReplayStep.objects.filter(replay__in=replays).order_by().values_list("replay_id", "status")
    for replay, status, steps, last in counted.annotate(steps=Count("id"), last=Max("sequence")):
        total[replay] = total.get(replay, 0) + steps
        if status in TERMINAL_STEP_STATUSES:
            done[replay] = done.get(replay, 0) + steps
            reached[replay] = max(reached.get(replay, 0), last)
        if status == "failed":
            failed[replay] = steps
    return [
        Progress(
            replay=each,
            done=done.get(each.id, 0),
            total=total.get(each.id, 0),
            failed=failed.get(each.id, 0),
            reached=reached.get(each.id),
        )
        for each in replays
    ]


def states_of(replay: Replay, sequences: Collection[int]) -> list[StepState]:
    """What became of these steps in a replay; nothing for those that it does not replay. One query."""
    steps = ReplayStep.objects.filter(replay=replay, sequence__in=sequences)
    of_retrieval = F("retrieval__verdict")
    rows = steps.order_by().values_list("sequence", "status", "verdict", of_retrieval, "context")
    return [
        StepState(sequence=sequence, status=status, verdict=verdict, retrieval=retrieval, context=context)
        for sequence, status, verdict, retrieval, context in rows
    ]
