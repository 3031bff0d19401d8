"""What the plots of a comparison say in words."""

from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.metrics import GROUNDING, TOKENS, Measure, VariantPair
from timemachine.replay.comparison.pure.statistics.paired import Pair, Reading, compare, corrected
from timemachine.web.comparisons.presenters.plots import plots


def verdict(measure: Measure, values: list[tuple[float, float]]) -> str:
    pairs = [Pair(cluster=0, a=Reading(value=a), b=Reading(value=b)) for a, b in values]
    found = Findings(
        asks=(),
        columns=(),
        noise=(),
        ordered=[VariantPair(a=0, b=1, results=corrected([compare(measure, pairs)]))],
    )
    (plot,) = plots(found, ["recording", "1 small"], 0).drawn
    return plot.rows[0].verdict


def test_no_difference_on_average_still_says_in_how_many_pairs_there_is_one() -> None:
    answers = [(1.0, 1.0)] * 11 + [(1.0, 0.4)] * 3
    assert verdict(GROUNDING, answers) == "unclear: worse in 3 of 14"


def test_the_same_difference_everywhere_is_a_difference() -> None:
    assert verdict(TOKENS, [(438.0, 481.0)] * 14) == "more"
