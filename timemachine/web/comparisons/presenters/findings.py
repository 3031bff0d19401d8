"""The statistics of two columns: a sentence for each metric, with its numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.model_steps import ModelSteps
from timemachine.governance.sharing.read_models.comparisons import SharedRemarks
from timemachine.replay.comparison.groups import CallGroup
from timemachine.replay.comparison.partings import Parting, summary_of
from timemachine.replay.comparison.pure.cells import Ask
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.metrics import MEASURES, Measure, VariantPair, noun_of
from timemachine.replay.comparison.pure.recommendation import recommendation
from timemachine.replay.comparison.pure.statistics import wording
from timemachine.replay.comparison.pure.statistics.paired import PairedResult
from timemachine.replay.comparison.pure.variants import RECORDING, Variant, names
from timemachine.replay.comparison.queries import AnnotatedAsks, annotated
from timemachine.replay.comparison.recorded import RecordedAnswers
from timemachine.replay.comparison.result_schemas import METHOD
from timemachine.web.comparisons.presenters.matrix import AskFilter, column_names, matrix
from timemachine.web.comparisons.presenters.overview import overview
from timemachine.web.comparisons.presenters.plots import plots

BY_NAME: Final = {each.name: each for each in MEASURES}
SAME_AGAIN: Final = "itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one metric for two columns, with the verdict, the rest of its sentence, and what is shown as text."""

    result: PairedResult
    measure: Measure
    verdict: str
    better: bool
    rest: str
    excluded: str
    method: str
    tested: str
    effect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPair:
    """Two columns by name, with the result of each metric and the ratios of their medians."""

    a: str
    b: str
    findings: Sequence[Finding]
    ratios: Sequence[tuple[str, str]]


def shown_pair(pair: VariantPair, names: Sequence[str], steps: ModelSteps) -> ShownPair:
    """Return the pair for display."""
    return ShownPair(
        a=names[pair.a],
        b=SAME_AGAIN if pair.a == pair.b else names[pair.b],
        findings=[_finding(each, noun_of(each.metric, steps)) for each in pair.results],
        ratios=[
            (BY_NAME[name].title, f"{ratio:.2f}") for name, ratio in pair.ratios.items() if ratio is not None
        ],
    )


def _finding(result: PairedResult, noun: str) -> Finding:
    measure = BY_NAME[result.metric]
    verdict = wording.in_words(result, measure.unit)
    return Finding(
        result=result,
        measure=measure,
        verdict=verdict,
        better=result.verdict.endswith("better") and not wording.is_closeness(result.metric),
        rest=wording.sentence(result, measure.unit, noun).removeprefix(verdict),
        excluded="; ".join(f"{number} {reason}" for reason, number in result.excluded.items()) or "none",
        method="" if result.interval is None else wording.METHODS[result.interval.method],
        tested=_tested(result),
        effect=_effect(result),
    )


def _tested(result: PairedResult) -> str:
    if result.p is None or result.test is None:
        return "no test"
    name = "McNemar" if result.test == "mcnemar" else "Wilcoxon"
    return f"{wording.p_words(result.p)} ({name}{'' if result.p_exact else ', normal limit'}); sign test {wording.p_words(result.sign_p)}"


def _effect(result: PairedResult) -> str:
    sentences = []
    if result.dz is not None:
        sentences.append(f"d_z {result.dz:.2f}")
    if result.rank_biserial is not None:
        sentences.append(f"r {result.rank_biserial:.2f}")
    return ", ".join(sentences) or "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGroup:
    """The model calls of an agent, or of a tool, with a row for each variant by its name."""

    by: str
    name: str | None
    arms: Sequence[dict[str, object]]


def shown_groups(groups: Sequence[CallGroup], arms: Sequence[Variant]) -> list[ShownGroup]:
    """Return the groups for display."""
    titles = column_names(arms)
    return [
        ShownGroup(
            by=group.by,
            name=group.name,
            arms=[{**each.model_dump(), "name": titles[each.arm]} for each in group.arms],
        )
        for group in groups
    ]


def figures(
    shown: Findings,
    arms: Sequence[Variant],
    ask_filter: AskFilter,
    partings: Sequence[Parting],
    recorded: RecordedAnswers,
    saying: Callable[[Sequence[Ask]], AnnotatedAsks | SharedRemarks] = annotated,
) -> dict[str, object]:
    """Return the results under their template names; `saying` loads ratings and judge verdicts of the visible asks."""
    titles = column_names(arms, recorded.models)
    rows = matrix(shown, titles, ask_filter, saying)
    return {
        "summary": summary_of(shown, names(arms), partings),
        "recommendation": recommendation(shown, names(arms), recorded.doubted),
        "steps": shown.steps,
        "matrix": rows,
        "names": titles,
        "overview": overview(shown, titles, ask_filter.against),
        "plots": plots(shown, titles, ask_filter.against),
        "pairs": [shown_pair(each, titles, shown.steps) for each in shown.against(ask_filter.against)],
        "noise": [shown_pair(each, titles, shown.steps) for each in shown.noise],
        "method": METHOD,
        "measures": MEASURES,
        "recording": RECORDING,
    }
