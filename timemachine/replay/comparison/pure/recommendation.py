"""Which variant of a comparison to use, and why, in words that claim no more than the answers show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from timemachine.core.pure.numbers import counted, money
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.metrics import (
    AGREEMENT,
    COST,
    GROUNDING,
    LATENCY,
    OF_THE_RECORDING,
    TOKENS,
    VariantTotals,
    noun_of,
)
from timemachine.replay.comparison.pure.statistics.intervals import FEWEST
from timemachine.replay.comparison.pure.statistics.paired import A_BETTER, NOT_SHOWN, TOO_FEW, PairedResult
from timemachine.replay.comparison.pure.statistics.wording import MOST_NEEDED_SHOWN, figure
from timemachine.replay.comparison.pure.variants import RECORDING

_AHEAD: Final[Mapping[str, str]] = {
    "answered": "answers more often",
    "agreement": "agrees with the recording more often",
    "same_tools": "calls the recorded tools more often",
    "same_arguments": "uses the recorded arguments more often",
    "grounding": "is better grounded",
    "cost": "is cheaper",
    "latency": "is faster",
    "tokens": "uses fewer tokens",
}
_QUALITY: Final = _AHEAD.keys() - {COST.name, LATENCY.name, TOKENS.name}
_MOST_AGREEING: Final = "agrees with the recording most often"
_BY_THE_RECORDING: Final = (_MOST_AGREEING, *(_AHEAD[each.name] for each in OF_THE_RECORDING))
"""The words for a variant that is close to the recording."""


_MEASURED: Final = frozenset({COST.name, LATENCY.name, TOKENS.name})
LEAST_SHARE: Final = 0.05
"""The least difference of costs, latencies and tokens that counts, as a share of what it is compared with."""
LEAST_GROUNDING: Final = 0.02
"""The least mean difference of grounding for which the answers should be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """A variant: the metrics in which it is shown to be ahead of every other one, and those in which another one is ahead of it."""

    arm: int
    name: str
    ahead: Sequence[str]
    behind: Sequence[str]


def recommendation(found: Findings, names: Sequence[str], doubted: int = 0) -> str:
    """Return which variant to use, or that the answers do not show that. `names` are those of the variants, without the recording.

    Empty if no variant has an answer. Only differences that are more than chance count. `doubted` recorded answers are
    known to be bad: if there are any, being close to the recording counts for nothing.
    """
    said = _advice(_without_agreement(found) if doubted else found, names)
    if said and doubted:
        of = counted(found.steps.total, "recorded answer")
        is_are = "is" if doubted == 1 else "are"
        said = said.replace("show no difference", "show no other difference")
        return f"{said} Agreement with the recording does not count here: {doubted:,} of {of} {is_are} marked as an error or rated worse than a new one."
    return (
        f"{said} The recording may itself be wrong."
        if any(each in said for each in _BY_THE_RECORDING)
        else said
    )


def _without_agreement(found: Findings) -> Findings:
    """Return the findings without the metrics that compare with the recording, but with the variants that answer everything as recorded,
    because the answers of these are the same."""
    left_out = {each.name for each in OF_THE_RECORDING}
    return replace(
        found,
        columns=[
            each if _answers_as_recorded(each) else each.model_copy(update=dict.fromkeys(left_out))
            for each in found.columns
        ],
        ordered=[
            replace(pair, results=[each for each in pair.results if each.metric not in left_out])
            for pair in found.ordered
        ],
    )


def _advice(found: Findings, names: Sequence[str]) -> str:
    answered = [each.arm for each in found.columns if each.arm != RECORDING and each.answers]
    if not answered:
        return ""
    if len(answered) == 1:
        return _only_one(found, names[answered[0] - 1], answered[0])
    standings = [_standing(found, arm, names[arm - 1], answered) for arm in answered]
    return _best(found, standings) or _not_behind(found, standings) or _no_difference(found, names, answered)


def _best(found: Findings, standings: Sequence[_Standing]) -> str:
    """Return which variant is ahead of every other one, or who is ahead in what; empty if none is."""
    ahead = [each for each in standings if each.ahead]
    best = next((each for each in ahead if not each.behind), None)
    if best:
        rivals = _rivals(found, best, standings)
        return (
            f"{best.name} {_joined(best.ahead)}, by more than chance, {_unproven(found, best, rivals)}{_also_behind(standings, best, rivals)}"
            if rivals
            else f"Use {best.name}: it {_joined(best.ahead)}. The difference is more than chance."
        )
    if not ahead:
        return ""
    if len(ahead) == 1:
        one = ahead[0]
        return f"{one.name} {_joined(one.ahead)}, but another one {_joined(one.behind)}. Both are more than chance. Which one to use depends on what matters more."
    each_ahead = ", ".join(f"{each.name} {_joined(each.ahead)}" for each in ahead)
    return f"No variant is ahead in everything: {each_ahead}. Which one to use depends on what matters more."


def _also_behind(standings: Sequence[_Standing], best: _Standing, rivals: Mapping[int, str]) -> str:
    """Return the metrics in which the other variants are behind: those that are neither the best one nor its rivals."""
    others = [each for each in standings if each is not best and each.arm not in rivals and each.behind]
    return "".join(f" {each.name} is behind: another one {_joined(each.behind)}." for each in others)


def _not_behind(found: Findings, standings: Sequence[_Standing]) -> str:
    """Return which variants are behind another one, and whether one is left; empty if none is behind."""
    behind = [each for each in standings if each.behind]
    rest = [each for each in standings if not each.behind]
    if not behind:
        return ""
    if not rest:
        return "No variant is ahead in everything, and each is behind another variant in something. Which one to use depends on what matters more."
    if len(rest) == 1:
        rivals = _rivals(found, rest[0], standings)
        why = _listed([f"another one {_joined(each.behind)} than {each.name}" for each in behind])
        return (
            f"Only {rest[0].name} is behind no other variant: by more than chance, {why}, {_unproven(found, rest[0], rivals)}"
            if rivals
            else f"Use {rest[0].name}: by more than chance, {why}."
        )
    why = "; ".join(f"{each.name} is behind: another one {_joined(each.behind)}" for each in behind)
    apart = f"Nothing here tells {_listed([each.name for each in rest])} apart"
    names = {each.arm: each.name for each in rest}
    return (
        f"{apart}; {why}, by more than chance.{_better_grounded(found, names)}{_needed(found, list(names))}"
    )


def _better_grounded(found: Findings, names: Mapping[int, str]) -> str:
    """Say which of these variants is better grounded than another one, and how often; empty if none is by more than a trifle."""
    grounded = [
        (result.losses, result.wins, result.n, names[pair.a], names[pair.b])
        for pair in found.ordered
        if pair.a in names and pair.b in names
        for result in pair.results
        if result.metric == GROUNDING.name
        and result.losses > result.wins
        and abs(result.difference or 0) >= LEAST_GROUNDING
    ]
    if not grounded:
        return ""
    often, seldom, of, better, worse = max(grounded)
    asks = counted(of, noun_of(GROUNDING.name, found.steps))
    otherwise = f", and in {seldom:,} worse" if seldom else ""
    return f" But in {often:,} of {asks}, {better} is better grounded than {worse}{otherwise}. Read the answers that differ before you choose."


def _rivals(found: Findings, best: _Standing, standings: Sequence[_Standing]) -> dict[int, str]:
    """Return the names of the variants whose answers may be better than those of one that is ahead in something.

    They are not if it is shown to be better in a metric of quality, or if both answer everything as recorded.
    """
    as_recorded = {RECORDING, *(each.arm for each in found.columns if _answers_as_recorded(each))}
    return {
        each.arm: each.name
        for each in standings
        if each is not best
        and not {best.arm, each.arm} <= as_recorded
        and not _QUALITY & _better(found, best.arm, each.arm)
    }


def _answers_as_recorded(column: VariantTotals) -> bool:
    return column.agreement == 1 and not column.missing


def _unproven(found: Findings, best: _Standing, rivals: Mapping[int, str]) -> str:
    """Say that a variant is not shown to answer as well as its rivals, and who is better grounded here."""
    grounded = [
        (result.wins, result.n, rivals[pair.b])
        for pair in found.ordered
        if pair.a == best.arm and pair.b in rivals
        for result in pair.results
        if result.metric == GROUNDING.name and result.wins > result.losses
    ]
    wins, of, name = max(grounded, default=(0, 0, ""))
    more = (
        f" In {wins:,} of {counted(of, noun_of(GROUNDING.name, found.steps))}, {name} is better grounded."
        if wins
        else ""
    )
    return (
        f"but nothing shows that its answers are as good as those of {_listed([*rivals.values()])}.{more} "
        "Read the answers that differ before you choose."
    )


def _standing(found: Findings, arm: int, name: str, arms: Sequence[int]) -> _Standing:
    others = [each for each in arms if each != arm]
    return _Standing(
        arm=arm,
        name=name,
        ahead=[each for each in _AHEAD if all(each in _better(found, arm, other) for other in others)],
        behind=[each for each in _AHEAD if any(each in _better(found, other, arm) for other in others)],
    )


def _better(found: Findings, one: int, other: int) -> set[str]:
    """Return the metrics in which the one column is shown to be better than the other."""
    return {
        each.metric
        for each in _results(found, one, other)
        if each.verdict == A_BETTER and not _is_small(each)
    }


def _is_small(result: PairedResult) -> bool:
    """Return whether a difference of costs, latencies or tokens is too small to choose a model for."""
    if result.metric not in _MEASURED or result.difference is None or not result.mean_b:
        return False
    return abs(result.difference) < LEAST_SHARE * abs(result.mean_b)


def _results(found: Findings, one: int, other: int) -> list[PairedResult]:
    return [
        each for pair in found.ordered if (pair.a, pair.b) == (one, other) for each in pair.results if each.n
    ]


def _verdicts(found: Findings, one: int, other: int) -> list[tuple[str, str]]:
    return [(each.metric, each.verdict) for each in _results(found, one, other)]


def _only_one(found: Findings, name: str, arm: int) -> str:
    """Return whether to use the only variant that answered, or to keep what was recorded."""
    new = _standing(found, arm, name, [arm, RECORDING])
    old = _standing(found, RECORDING, "the recording", [arm, RECORDING])
    if new.ahead and old.ahead:
        return f"{name} {_joined(new.ahead)} than the recording, which {_joined(old.ahead)}. Both are more than chance."
    if not new.ahead and not old.ahead:
        return _no_difference(found, [name] * arm, [arm])
    best, other = (new, old) if new.ahead else (old, new)
    than = f"{_joined(best.ahead)} than {other.name}"
    rivals = _rivals(found, best, [other])
    if rivals:
        subject = name if best is new else "The recording"
        return f"{subject} {than}, by more than chance, {_unproven(found, best, rivals)}"
    advice = f"Use {name}" if best is new else "Keep what was recorded"
    return f"{advice}: it {than}. The difference is more than chance."


def _no_difference(found: Findings, names: Sequence[str], arms: Sequence[int]) -> str:
    steps = found.steps
    columns = arms if len(arms) > 1 else [RECORDING, *arms]
    verdicts = [
        verdict for one in columns for other in columns for _, verdict in _verdicts(found, one, other)
    ]
    if all(each == TOO_FEW for each in verdicts):
        what = "which variant to use" if len(arms) > 1 else f"whether {names[arms[0] - 1]} is better"
        few = f"{steps.words} {'is' if steps.total == 1 else 'are'} too few to say {what}"
        return f"{few}: {_fewest(steps.total)}.{_cheapest(found, names, arms)}"
    most, needed = _most_agreeing(found, names, arms), _needed(found, columns)
    if most:
        return f"{most}, but {steps.words} are too few to show that this is more than chance.{needed}"
    between = "between the variants" if len(arms) > 1 else _between_both(found, names[arms[0] - 1], arms[0])
    grounded = _better_grounded(found, {arm: names[arm - 1] for arm in arms})
    return (
        f"These {steps.words} show no difference {between}.{grounded}{needed}{_cheapest(found, names, arms)}"
    )


def _between_both(found: Findings, name: str, arm: int) -> str:
    """Say between which two no difference is shown, and in which metrics."""
    compared = [
        metric.replace("_", " ") for metric, _ in _verdicts(found, RECORDING, arm) if metric != "answered"
    ]
    where = f" in {_listed(compared)}" if compared else ""
    return f"between {name} and the recording{where}"


def _fewest(steps: int) -> str:
    """Say why there are too few pairs for any verdict."""
    if steps < FEWEST:
        return f"that takes at least {FEWEST}, and more if the answers vary"
    return f"fewer than {FEWEST} of them have answers on both sides"


def _needed(found: Findings, columns: Sequence[int]) -> str:
    """Say how many more steps like these would show a difference that matters, in agreement or else in grounding.

    For the pair of columns that needs most, with 80% power (`paired.needed_pairs` has the formula and its source). Empty
    where no difference varies, because then nothing says how many.
    """
    for metric in (AGREEMENT, GROUNDING):
        results = _not_shown(found, columns, metric.name)
        if results:
            most = max(results, key=lambda each: (each.needed or 0) - each.n)
            more, noun = (most.needed or 0) - most.n, noun_of(metric.name, found.steps)
            if more <= 0:
                return ""
            about = "Over" if more > MOST_NEEDED_SHOWN else "About"
            number = f"{min(more, MOST_NEEDED_SHOWN):,} more {noun}{'' if more == 1 else 's'}"
            return f" {about} {number} like these would be needed to show a difference of {figure(most.matters, metric.unit)} in {metric.name}."
    return ""


def _not_shown(found: Findings, columns: Sequence[int], metric: str) -> list[PairedResult]:
    """Return the results that show no difference and say how many pairs would, once for each two of the columns."""
    return [
        each
        for pair in found.pairs
        if pair.a in columns and pair.b in columns
        for each in pair.results
        if each.metric == metric and each.verdict == NOT_SHOWN and each.needed is not None
    ]


def _most_agreeing(found: Findings, names: Sequence[str], arms: Sequence[int]) -> str:
    """Say which variant agrees with the recording most often here; empty if none does alone."""
    shares = {each.arm: each.agreement for each in found.columns if each.arm in arms}
    known = {arm: share for arm, share in shares.items() if share is not None}
    most = max(known.values(), default=None)
    leading = [arm for arm, share in known.items() if share == most]
    if len(arms) == 1 or len(known) < len(arms) or len(leading) != 1:
        return ""
    return f"{names[leading[0] - 1]} {_MOST_AGREEING}"


def _cheapest(found: Findings, names: Sequence[str], arms: Sequence[int]) -> str:
    """Say which variant cost least here, if the costs of all are known and differ."""
    totals = {each.arm: each for each in found.columns}
    costs = {arm: totals[arm].cost.total for arm in arms if not totals[arm].unknown_cost}
    known = {arm: cost for arm, cost in costs.items() if cost is not None}
    if len(known) < len(arms) or len(set(known.values())) < 2:  # noqa: PLR2004
        return ""
    least = min(known, key=lambda arm: known[arm])
    return f" {names[least - 1]} cost least here: {money(known[least])}."


def _joined(metrics: Sequence[str]) -> str:
    return _listed([_AHEAD[each] for each in metrics])


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
