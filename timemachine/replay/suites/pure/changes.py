"""What changed between two runs of a suite, step by step.

`better` is closer to the recording, `worse` further from it. Verdicts have levels; a change within a level is
neither.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final
from uuid import UUID

from timemachine.core.pure.conditions import SINCE_LAST_RUN
from timemachine.core.pure.schemas import Schema
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES

CHANGES: Final = (*SINCE_LAST_RUN, "same", "under_way")
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "new_failure": ("new failure", "new failures"),
    "worse": ("worse", "worse"),
    "other_verdict": ("different verdict", "different verdicts"),
    "answer_differs": ("answer differs", "answers differ"),
    "passages_differ": ("step with different passages", "steps with different passages"),
    "not_reached": ("not reached", "not reached"),
    "step_gone": ("missing step", "missing steps"),
    "new_step": ("new step", "new steps"),
    "reached_again": ("reached again", "reached again"),
    "failure_gone": ("resolved failure", "resolved failures"),
    "better": ("better", "better"),
    "same": ("unchanged", "unchanged"),
    "under_way": ("in progress", "in progress"),
}
UNCHANGED: Final = ("same", "under_way")
_ANSWERS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"identical"}),
    frozenset({"formatting", "equivalent"}),
    frozenset({"reworded", "same_action"}),
    frozenset({"adds", "omits", "other_arguments"}),
    frozenset(
        {"numbers_differ", "names_differ", "polarity_differs", "changed", "contradicts", "refused"}
        | {"other_tool", "answers_instead", "calls_instead"}
    ),
)
_CONTEXTS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"verified", "reconstructed"}),
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
    """The result of one step of a run. `id` is its replay step; `arm` numbers the suite's models from 1; `in_words` is the
    verdict in words; `answer` and `passages` are hashes.

    `model` is None if none was called; `cost_usd` is None if unknown, `took_ms` if not measured.
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
    in_words: str | None = None
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
        return self.status == "failed" or self.verdict == "error"

    @property
    def has_result(self) -> bool:
        """Return whether it has a result; not if it was cancelled or skipped because of the spend limit."""
        return self.status in {"done", "failed"}

    @property
    def place(self) -> Place:
        """Return which step it is in its run."""
        return self.session, self.arm, self.sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChange:
    """A step of a run next to the same step of the previous run; one of the two may be missing."""

    change: str
    before: StepFact | None
    after: StepFact | None

    @property
    def step(self) -> StepFact:
        """Return the step as it is now, or as it was if it no longer exists."""
        found = self.after or self.before
        if found is None:
            raise ValueError
        return found

    @property
    def cost_change(self) -> float | None:
        """Return how much more it cost, in US dollars; None unless both are known."""
        if self.before is None or self.after is None:
            return None
        return _difference(self.before.cost_usd, self.after.cost_usd)

    @property
    def took_change(self) -> float | None:
        """Return how much longer it took, in milliseconds; None unless both are known."""
        if self.before is None or self.after is None:
            return None
        return _difference(self.before.took_ms, self.after.took_ms)


class Change(Schema):
    """The sum of a number over the `steps` that have it in both runs: in the run before, and in this one."""

    steps: int
    before: float | None
    after: float | None


class Findings(Schema):
    """The changes counted; the cost (a sum, in US dollars) and the time (a median, in ms) of the steps that have both.

    `cost_unknown` counts the steps in both runs that called a model of unknown price.
    """

    counts: dict[str, int]
    cost: Change
    took: Change
    cost_unknown: int


def paired_models(before: Sequence[str | None], after: Sequence[str | None]) -> dict[int, int]:
    """Return for each model of a run the model of the previous run to compare it with.

    It is the same model, or for the others the next one left over. So a suite whose only model was replaced
    is still compared step by step. Numbers count from 1.
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
    """Return every step of either run next to its counterpart: the steps of `after` in order, then those that no longer exist."""
    there = {fact.place: fact for fact in before}
    found = []
    for fact in after:
        was = there.pop((fact.session, arms.get(fact.arm, 0), fact.sequence), None)
        found.append(StepChange(change=change_of(was, fact), before=was, after=fact))
    removed = [StepChange(change="step_gone", before=fact, after=None) for fact in there.values()]
    return [*found, *removed]


def change_of(before: StepFact | None, after: StepFact) -> str:
    """Return what happened to a step since the previous run; the first rule that fits."""
    if after.status not in TERMINAL_STEP_STATUSES:
        return "under_way"
    if before is None:
        return "new_step"
    if not before.has_result or not after.has_result:
        return _reaching(before, after)
    if before.failed or after.failed:
        return _failing(before, after)
    return _verdict(before, after) or _bytes(before, after) or "same"


def counted_change(change: str, number: int) -> str:
    """Return a number of changes in words: `1 new failure`, `3 answers differ`."""
    one, several = _WORDS[change]
    return f"{number:,} {one if number == 1 else several}"


def findings(found: Sequence[StepChange]) -> Findings:
    """Return the changes counted."""
    counts = Counter(each.change for each in found)
    both = [(each.before, each.after) for each in found if each.before and each.after]
    return Findings.model_construct(
        counts={name: counts[name] for name in CHANGES if counts[name]},
        cost=_in_both([(one.cost_usd, two.cost_usd) for one, two in both], sum),
        took=_in_both([(one.took_ms, two.took_ms) for one, two in both], median),
        cost_unknown=sum(_unpriced(one) or _unpriced(two) for one, two in both),
    )


def _reaching(before: StepFact, after: StepFact) -> str:
    if after.has_result:
        return "reached_again"
    return "not_reached" if before.has_result else "same"


def _failing(before: StepFact, after: StepFact) -> str:
    if before.failed and after.failed:
        return "same"
    return "new_failure" if after.failed else "failure_gone"


def _verdict(before: StepFact, after: StepFact) -> str | None:
    """Return `better` or `worse` if verdicts moved only that way; None if no verdict changed."""
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


def _in_both(
    pairs: Sequence[tuple[float | None, float | None]], total: Callable[[Sequence[float]], float]
) -> Change:
    """Return the total of either side, over the pairs that have both numbers."""
    known = [(before, after) for before, after in pairs if before is not None and after is not None]
    return Change.model_construct(
        steps=len(known),
        before=total([before for before, _ in known]) if known else None,
        after=total([after for _, after in known]) if known else None,
    )
