"""Two runs aligned: their pairs, how many there are of each status, and what either run adds up to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from timemachine.accounts.models import Project
from timemachine.alignment.facts import RunStep
from timemachine.alignment.runs import Run, RunTotals, run_of, totals
from timemachine.alignment.steps import steps_of
from timemachine.difference.sessions import STATUSES, StepPair, align_by_sequence, align_steps

Show = Literal["all", "changed", "same", "modified", "only_left", "only_right"]
SHOWS: Final[tuple[Show, ...]] = ("all", "changed", "modified", "only_left", "only_right", "same")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two runs: its steps by their sequence, and its totals."""

    run: Run
    steps: Mapping[int, RunStep]
    totals: RunTotals


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """Two runs with the pairs of their steps in order. `only_replayed` says that only finds and asks were compared."""

    left: Side
    right: Side
    pairs: Sequence[StepPair]
    only_replayed: bool

    @property
    def counts(self) -> dict[str, int]:
        """How many pairs there are of each status."""
        found = Counter[str](pair.status for pair in self.pairs)
        return {status: found[status] for status in STATUSES}

    def shown(self, show: Show) -> list[int]:
        """The places of the pairs that a filter shows, in their order; `changed` is every status but `same`."""
        if show == "all":
            return list(range(len(self.pairs)))
        wanted = set(STATUSES) - {"same"} if show == "changed" else {show}
        return [place for place, pair in enumerate(self.pairs) if pair.status in wanted]


def aligned(project: Project, left: str, right: str) -> Aligned:
    """Two runs of a project, named by uuid or key, aligned. At most thirteen queries. Raises `NotFound`, `TooLarge`.

    Two runs of one session (it and its replay, or two replays) are paired by sequence, any other two by what the steps are.
    Against a replay a session's finds and asks are compared: nothing else is repeated in one.
    """
    runs = run_of(project, left), run_of(project, right)
    only_replayed = any(run.replay is not None for run in runs)
    one, other = (_side(run, only_replayed=only_replayed) for run in runs)
    of_one = only_replayed and one.run.session.id == other.run.session.id
    align = align_by_sequence if of_one else align_steps
    pairs = align(*([step.facts for step in side.steps.values()] for side in (one, other)))
    return Aligned(left=one, right=other, pairs=pairs, only_replayed=only_replayed)


def _side(run: Run, *, only_replayed: bool) -> Side:
    steps = steps_of(run, only_replayed=only_replayed)
    return Side(
        run=run,
        steps={step.sequence: step for step in steps},
        totals=totals(run, steps, only_replayed=only_replayed),
    )
