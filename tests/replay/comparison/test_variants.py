"""Variants by name, and invalid combinations."""

from uuid import UUID

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.replay.comparison.pure.cells import Ask, Cell, missing_counts, verdict_counts
from timemachine.replay.comparison.pure.findings import findings
from timemachine.replay.comparison.pure.metrics import (
    MEASURES,
    VariantTotals,
    column,
    column_totals,
    readings,
)
from timemachine.replay.comparison.pure.statistics.paired import PairedResult, Reading
from timemachine.replay.comparison.pure.statistics.wording import sentence
from timemachine.replay.comparison.pure.variants import (
    Variant,
    check,
    check_distinct,
    names,
)

M = "openai:m"
SESSION = UUID(int=1)


@pytest.mark.parametrize(
    ("arms", "shown"),
    [
        ([Variant(model=M), Variant(model="b")], [M, "b"]),
        ([Variant(model=M, temperature=0.5), Variant(model=M)], [f"{M} · temperature 0.5", M]),
        ([Variant(model=M, seed=1), Variant(model="b", seed=1)], [M, "b"]),
        ([Variant(model=M, max_tokens=7), Variant(model=M)], [f"{M} · max tokens 7", M]),
        (
            [Variant(model=M, system_prompt="x"), Variant(model=M, system_prompt="y"), Variant(model=M)],
            [f"{M} · system prompt 1", f"{M} · system prompt 2", M],
        ),
        ([Variant(model=M, system_prompt=""), Variant(model=M)], [f"{M} · system prompt 1", M]),
    ],
)
def test_variants_are_named_by_their_differences(arms: list[Variant], shown: list[str]) -> None:
    assert names(arms) == shown


def test_a_variant_is_stored_without_unset_options() -> None:
    arm = Variant(model=M, temperature=0.0)
    assert arm.as_json() == {"model": M, "temperature": 0.0}
    assert Variant(**arm.as_json()) == arm


@pytest.mark.parametrize(
    ("arms", "repeats", "code"),
    [
        ([Variant(model=M)], 1, "arms_needed"),
        ([Variant(model=str(n)) for n in range(9)], 1, "arms_needed"),
        ([Variant(model=M), Variant(model="b")], 0, "invalid_field"),
        ([Variant(model=M), Variant(model="b")], 21, "invalid_field"),
        ([Variant(model=M), Variant(model=" ")], 1, "invalid_field"),
    ],
)
def test_an_invalid_set_of_variants_is_refused_with_its_code(
    arms: list[Variant], repeats: int, code: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(arms, repeats)
    assert refused.value.code == code


def test_identical_variants_are_refused_and_different_ones_are_not() -> None:
    check([Variant(model=M), Variant(model="b")], 1)
    check_distinct([Variant(model=M), Variant(model=M, seed=1)])
    with pytest.raises(InvalidInput, match="Variants 1 and 3 are the same"):
        check_distinct([Variant(model=M), Variant(model="b"), Variant(model=M)])


CELLS = {
    "good": Cell(
        arm=1, verdict="identical", grounding=0.5, cost_usd=0.1, latency_ms=5, tokens=9, spent_usd=0.1
    ),
    "error": Cell(arm=1, verdict="error", missing="error", spent_usd=0.05, unknown_calls=1),
    "refused": Cell(arm=1, verdict="refused", refused=True, grounding=1.0, cost_usd=0.2, spent_usd=0.2),
    "waiting": Cell(arm=1, missing="in progress"),
    "cached": Cell(arm=0, cached=True, cost_usd=0.0, grounding=0.9),
    "newly": Cell(arm=1, verdict="newly_answered", grounding=0.3),
    "alone": Cell(arm=1, verdict="not_recorded"),
    "changed": Cell(arm=1, verdict="changed", unknown_calls=1),
}
READ = [
    ("good", {"answered": 1, "agreement": 1, "grounding": 0.5, "cost": 0.1, "latency": 5, "tokens": 9}),
    (
        "error",
        {"answered": 0} | dict.fromkeys(("agreement", "grounding", "cost", "latency", "tokens"), "error"),
    ),
    (
        "refused",
        {"answered": 0, "agreement": "refused", "grounding": "refused", "cost": 0.2, "latency": "unknown"},
    ),
    (
        "waiting",
        dict.fromkeys((each.name for each in MEASURES), "in progress")
        | dict.fromkeys(("same_tools", "same_arguments"), "not a model call"),
    ),
    ("cached", {"answered": 1, "grounding": 0.9, "cost": "from the cache", "tokens": "from the cache"}),
    ("newly", {"agreement": "recorded answer refused", "grounding": 0.3}),
    ("alone", {"agreement": "not recorded", "answered": 1}),
    ("changed", {"agreement": 0, "grounding": "unknown"}),
]


@pytest.mark.parametrize(("name", "expected"), READ)
def test_an_answer_has_a_figure_or_the_reason_why_not(name: str, expected: dict[str, float | str]) -> None:
    for measure in MEASURES:
        if measure.name in expected:
            value = expected[measure.name]
            expected_reading = (
                Reading(value=None, missing=value) if isinstance(value, str) else Reading(value=float(value))
            )
            assert measure.read(CELLS[name]) == expected_reading, measure.name


def test_several_runs_count_once_by_their_mean_or_commonest_reason() -> None:
    answered, *_ = MEASURES
    assert readings(answered, [CELLS["good"], CELLS["error"]]).value == 0.5
    assert readings(answered, [CELLS["waiting"]]).missing == "in progress"
    assert readings(answered, []).missing == "not asked"


def ask(sequence: int, **cells: Cell) -> Ask:
    runs = {(cell.arm, cell.repeat): cell for cell in cells.values()}
    recorded = Cell(arm=0, grounding=1.0)
    return Ask(
        session=SESSION,
        session_name="s",
        sequence=sequence,
        action=sequence,
        label="q?",
        recorded=recorded,
        runs=runs,
    )


def totals(asks: list[Ask], arm: int) -> VariantTotals:
    return column_totals(asks, column(asks, arm))


def test_a_column_adds_up_known_values_and_counts_unknown_ones() -> None:
    asks = [
        ask(1, a=CELLS["good"]),
        ask(2, a=CELLS["refused"]),
        ask(3, a=CELLS["error"]),
        ask(4, a=CELLS["changed"]),
    ]
    found = totals(asks, 1)
    assert (found.answers, found.missing) == (3, {"refused": 1, "error": 1})
    assert (found.cost.n, found.unknown_cost) == (2, 2)
    assert found.cost.total == pytest.approx(0.35)
    assert totals([ask(1, a=CELLS["waiting"])], 1).cost.total is None
    assert (found.grounding, found.grounding_interval) == (0.5, None)
    assert found.agreement == 0.5
    assert totals(asks, 0).agreement is None
    assert totals([ask(1, a=CELLS["waiting"])], 1).grounding is None


def test_the_agreement_interval_is_below_1_even_if_every_answer_agrees() -> None:
    found = totals([ask(n, a=CELLS["good"]) for n in range(8)], 1).agreement_interval
    assert found is not None
    assert found.low == pytest.approx(0.6877, abs=0.001)
    assert found.high == 1


def test_all_columns_are_paired_or_one_is_compared_with_all_others() -> None:
    asks = [ask(1, a=CELLS["good"])]
    assert [(each.a, each.b) for each in findings(asks, 2, noise_floor=False).pairs] == [
        (0, 1),
        (0, 2),
        (1, 2),
    ]
    found = findings(asks, 2, noise_floor=True)
    assert [(each.a, each.b) for each in found.against(1)] == [(1, 0), (1, 2)]
    assert [each.a for each in found.noise] == [1, 2]


def test_an_ask_knows_whether_any_answer_changed() -> None:
    assert not ask(1, a=CELLS["good"]).changed
    assert ask(1, a=CELLS["changed"]).changed
    assert ask(1, a=CELLS["changed"]).has("changed")
    assert not ask(1, a=CELLS["changed"]).has("adds")
    noisy = ask(1, a=CELLS["good"], b=Cell(arm=1, repeat=0, verdict="adds"))
    assert (len(noisy.cells(1)), len(noisy.noise(1)), len(noisy.cells(0))) == (1, 1, 1)
    assert not noisy.has("adds")
    assert verdict_counts([CELLS["good"], CELLS["waiting"]]) == {"identical": 1}
    assert missing_counts([CELLS["good"]]) == {}


@pytest.mark.parametrize(
    ("repeated", "verdict"), [(90.0, "cannot be told apart"), (300.0, "B better")], ids=["load", "quiet"]
)
def test_latencies_get_a_verdict_only_if_no_variant_differs_from_itself(
    repeated: float, verdict: str
) -> None:
    def took(arm: int, repeat: int, latency: float) -> Cell:
        return Cell(arm=arm, repeat=repeat, latency_ms=latency)

    asks = [
        ask(
            n, a=took(1, 1, 300 + n), b=took(2, 1, 150 + n), c=took(1, 0, repeated + n), d=took(2, 0, 150 + n)
        )
        for n in range(12)
    ]
    found = findings(asks, 2, noise_floor=True)
    pair = next(each for each in found.pairs if (each.a, each.b) == (1, 2))
    latency = next(each for each in pair.results if each.metric == "latency")
    assert latency.verdict == verdict
    assert ("a model against itself" in sentence(latency, "ms", "ask")) == (verdict == "cannot be told apart")


def test_latencies_that_differ_by_less_than_100_ms_get_no_verdict() -> None:
    def found(second: float) -> PairedResult:
        asks = [
            ask(n, a=Cell(arm=1, latency_ms=20.0 + n), b=Cell(arm=2, latency_ms=second + n))
            for n in range(12)
        ]
        pair = next(
            each for each in findings(asks, 2, noise_floor=False).pairs if each.b == 2 and each.a == 1
        )
        return next(each for each in pair.results if each.metric == "latency")

    assert found(120).verdict == "A better"
    assert found(119).verdict == "cannot be told apart"
    assert "below 100 ms can come from running the variants at the same time" in sentence(
        found(119), "ms", "ask"
    )
    assert found(20).verdict == "no difference shown"


def test_a_noise_floor_of_less_than_100_ms_takes_no_verdict_away() -> None:
    def took(arm: int, repeat: int, latency: float) -> Cell:
        return Cell(arm=arm, repeat=repeat, latency_ms=latency)

    asks = [
        ask(n, a=took(1, 1, 26 + n), b=took(2, 1, 3000 + n), c=took(1, 0, 66 + n), d=took(2, 0, 3000 + n))
        for n in range(12)
    ]
    found = findings(asks, 2, noise_floor=True)
    pair = next(each for each in found.pairs if (each.a, each.b) == (1, 2))
    assert next(each for each in pair.results if each.metric == "latency").verdict == "A better"
    noise = [result for each in found.noise for result in each.results if result.metric == "latency"]
    assert "A better" not in [each.verdict for each in noise]
