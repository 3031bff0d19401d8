"""What changed between two runs of a suite, step by step. Pure.

`better` is nearer to the recording, `worse` further from it: verdicts stand on levels, and two of one level are neither.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final
from uuid import UUID

from timemachine.core.pure.conditions import SINCE_LAST_RUN
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES

CHANGES: Final = (*SINCE_LAST_RUN, "same", "under_way")
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "new_failure": ("new failure", "new failures"),
    "worse": ("worse", "worse"),
    "other_verdict": ("other verdict", "other verdicts"),
    "answer_differs": ("answer differs", "answers differ"),
    "passages_differ": ("step with other passages", "steps with other passages"),
    "not_reached": ("not reached", "not reached"),
    "step_gone": ("step gone", "steps gone"),
    "new_step": ("new step", "new steps"),
    "reached_again": ("reached again", "reached again"),
    "failure_gone": ("failure gone", "failures gone"),
    "better": ("better", "better"),
    "same": ("the same", "the same"),
    "under_way": ("under way", "under way"),
}
UNCHANGED: Final = ("same", "under_way")
_ANSWERS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"identical"}),
    frozenset({"formatting", "equivalent"}),
    frozenset({"reworded"}),
    frozenset({"adds", "omits"}),
    frozenset({"numbers_differ", "names_differ", "polarity_differs", "changed", "contradicts", "refused"}),
)
_CONTEXTS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"verified"}),
    frozenset({"altered", "missing"}),
)
_RETRIEVALS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"same"}),
    frozenset({"reordered"}),
    frozenset({"changed"}),
)

type Place = tuple[UUID, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFact:
    """What one step of a run came to. `id` is its replay's step; `arm` counts the suite's models from 1; `answer` and `passages` are hashes.

    `model` is None where none was called; `cost_usd` None where it is not known, `took_ms` where nothing was measured.
    """

    session: UUID
    arm: int
    sequence: int
    replay: UUID
    id: int = 0
    kind: str = "ask"
    label: str = ""
    status: str = "done"
    verdict: str | None = None
    context: str | None = None
    retrieval: str | None = None
    answer: str | None = None
    passages: str | None = None
    model: str | None = None
    cost_usd: float | None = None
    took_ms: float | None = None
    error: str | None = None

    @property
    def failed(self) -> bool:
        """Whether it came to an error."""
        return self.status == "failed" or self.verdict == "error"

    @property
    def reached(self) -> bool:
        """Whether it came to anything; not where it was cancelled or left out at the spend limit."""
        return self.status in {"done", "failed"}

    @property
    def place(self) -> Place:
        """Which step it is, in its run."""
        return self.session, self.arm, self.sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChange:
    """A step of a run beside the same step of the run before; one of the two may not be there."""

    change: str
    before: StepFact | None
    after: StepFact | None

    @property
    def step(self) -> StepFact:
        """The step as it is now, or as it was where it is gone."""
        found = self.after or self.before
        if found is None:
            raise ValueError
        return found

    @property
    def cost_change(self) -> float | None:
        """How much more it cost, in US dollars; None unless both are known."""
        if self.before is None or self.after is None:
            return None
        return _difference(self.before.cost_usd, self.after.cost_usd)

    @property
    def took_change(self) -> float | None:
        """How much longer it took, in milliseconds; None unless both are known."""
        if self.before is None or self.after is None:
            return None
        return _difference(self.before.took_ms, self.after.took_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """A figure over the steps that have it in both runs: how many these are, before and after; None where none has."""

    steps: int = 0
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The changes counted; the cost (a sum, in US dollars) and the time (a median, in ms) of the steps that have both.

    `cost_unknown` counts the steps in both runs that called a model at a price that is not known.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    cost: Paired = Paired()
    took: Paired = Paired()
    cost_unknown: int = 0

    @property
    def changed(self) -> int:
        """How many steps are not as they were."""
        return sum(number for change, number in self.counts.items() if change not in UNCHANGED)


def paired_arms(before: Sequence[str | None], after: Sequence[str | None]) -> dict[int, int]:
    """Which arm of the run before each arm is compared with: the same model's, and of those left over each with the next.

    So a suite of one model that is changed for another one is still compared step by step. Numbers count from 1.
    """
    left, found = list(range(1, len(before) + 1)), {}
    for arm, name in enumerate(after, 1):
        same = next((each for each in left if before[each - 1] == name), None)
        if same is not None:
            found[arm] = same
            left.remove(same)
    rest = (arm for arm in range(1, len(after) + 1) if arm not in found)
    return found | dict(zip(rest, left, strict=False))


def changes(
    before: Iterable[StepFact], after: Iterable[StepFact], arms: Mapping[int, int]
) -> list[StepChange]:
    """Every step of either run beside its other one: the steps of `after` in their order, then those that are gone."""
    there = {fact.place: fact for fact in before}
    found = []
    for fact in after:
        was = there.pop((fact.session, arms.get(fact.arm, 0), fact.sequence), None)
        found.append(StepChange(change=change_of(was, fact), before=was, after=fact))
    gone = [StepChange(change="step_gone", before=fact, after=None) for fact in there.values()]
    return [*found, *gone]


def change_of(before: StepFact | None, after: StepFact) -> str:
    """What became of a step since the run before; the first of the rules that fits."""
    if after.status not in TERMINAL_STEP_STATUSES:
        return "under_way"
    if before is None:
        return "new_step"
    if not before.reached or not after.reached:
        return _reaching(before, after)
    if before.failed or after.failed:
        return _failing(before, after)
    return _verdict(before, after) or _bytes(before, after) or "same"


def counted_change(change: str, number: int) -> str:
    """So many steps of a kind of change: `1 new failure`, `3 answers differ`."""
    one, several = _WORDS[change]
    return f"{number:,} {one if number == 1 else several}"


def findings(found: Sequence[StepChange]) -> Findings:
    """The changes counted."""
    counts = Counter(each.change for each in found)
    both = [(each.before, each.after) for each in found if each.before and each.after]
    costs = [
        (one.cost_usd, two.cost_usd)
        for one, two in both
        if one.cost_usd is not None and two.cost_usd is not None
    ]
    times = [
        (one.took_ms, two.took_ms) for one, two in both if one.took_ms is not None and two.took_ms is not None
    ]
    return Findings(
        counts={name: counts[name] for name in CHANGES if counts[name]},
        cost=Paired(steps=len(costs), before=_sum(costs, 0), after=_sum(costs, 1)),
        took=Paired(steps=len(times), before=_median(times, 0), after=_median(times, 1)),
        cost_unknown=sum(_unpriced(one) or _unpriced(two) for one, two in both),
    )


def _reaching(before: StepFact, after: StepFact) -> str:
    if after.reached:
        return "reached_again"
    return "not_reached" if before.reached else "same"


def _failing(before: StepFact, after: StepFact) -> str:
    if before.failed and after.failed:
        return "same"
    return "new_failure" if after.failed else "failure_gone"


def _verdict(before: StepFact, after: StepFact) -> str | None:
    """`better` or `worse` where something moved that way and nothing the other; None where no verdict changed."""
    ways = {
        _way(_ANSWERS, before.verdict, after.verdict),
        _way(_CONTEXTS, before.context, after.context),
        _way(_RETRIEVALS, before.retrieval, after.retrieval),
    } - {None}
    if not ways:
        return None
    one_way = ways & {"better", "worse"}
    return one_way.pop() if len(one_way) == 1 else "other_verdict"


def _way(levels: Sequence[frozenset[str]], before: str | None, after: str | None) -> str | None:
    if before == after:
        return None
    was, now = (_level(levels, name) for name in (before, after))
    if was is None or now is None or was == now:
        return "other_verdict"
    return "better" if now < was else "worse"


def _level(levels: Sequence[frozenset[str]], name: str | None) -> int | None:
    return next((number for number, names in enumerate(levels) if name in names), None)


def _bytes(before: StepFact, after: StepFact) -> str | None:
    if before.answer != after.answer:
        return "answer_differs"
    return "passages_differ" if before.passages != after.passages else None


def _unpriced(fact: StepFact) -> bool:
    return fact.model is not None and fact.cost_usd is None


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _sum(pairs: Sequence[tuple[float, float]], side: int) -> float | None:
    return sum(pair[side] for pair in pairs) if pairs else None


def _median(pairs: Sequence[tuple[float, float]], side: int) -> float | None:
    return median(pair[side] for pair in pairs) if pairs else None
