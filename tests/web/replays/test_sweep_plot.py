"""The settings of a sweep in order and as a plot: no markers overlap, and the ticks are whole tokens."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from timemachine.replay.sweeps.schemas import SweepResult, SweepRowOut
from timemachine.web.replays.presenters.sweep_plot import (
    APART,
    LEFT,
    RIGHT,
    TOP,
    chosen,
    finding_of,
    measure_of,
    ordered,
    sweep_plot,
)


def setting(
    number: int, recall: float | None, tokens: float | None, overlap: float | None = 0.5
) -> SweepRowOut:
    result = SweepResult(
        steps=1,
        hits=0,
        tokens=0,
        tokens_per_step=tokens,
        grounded_frames=0,
        grounded_found=0,
        recall=recall,
        overlap=overlap,
        rank_biased_overlap=None,
        left_out=0,
    )
    return row(number, result)


def row(number: int, result: SweepResult | None) -> SweepRowOut:
    return SweepRowOut(
        mode="hybrid",
        top_k=4,
        adaptive=number % 2 == 0,
        embedding_model=None,
        number=number,
        status="waiting" if result is None else "done",
        result=result,
        error=None,
    )


WAITING = row(9, None)
MEASURED = [
    setting(1, 0.5, 100.0),
    setting(2, 1.0, 900.0),
    setting(3, 1.0, 200.0),
    setting(4, None, None),
    WAITING,
]


@pytest.mark.parametrize(
    ("by", "numbers"),
    [
        ("best", [3, 2, 1, 4, 9]),
        ("nonsense", [3, 2, 1, 4, 9]),
        ("tokens", [1, 3, 2, 4, 9]),
        ("number", [1, 2, 3, 4, 9]),
    ],
)
def test_settings_are_in_the_requested_order(by: str, numbers: list[int]) -> None:
    assert [each.number for each in ordered(MEASURED[::-1], by)] == numbers


def test_an_unknown_order_means_best_first() -> None:
    assert [chosen(by) for by in ("tokens", "", "nonsense")] == ["tokens", "best", "best"]


def test_settings_are_measured_by_overlap_if_no_answer_was_grounded() -> None:
    ungrounded = [setting(1, None, 10.0, overlap=0.2), setting(2, None, 10.0, overlap=0.9), WAITING]
    assert measure_of(ungrounded) == "overlap"
    assert [each.number for each in ordered(ungrounded, "best")] == [2, 1, 9]
    plot = sweep_plot(ungrounded)
    assert plot is not None
    assert plot.upwards == "overlap"


@pytest.mark.parametrize(
    ("rows", "finding"),
    [
        (MEASURED[:2], "Best: hybrid, top-k 4, adaptive cut-off, with recall 1.00 at 900 tokens per step."),
        (
            MEASURED,
            "2 of 3 settings have the best recall, 1.00. "
            "Fewest tokens: hybrid, top-k 4, exactly top-k, at 200 tokens per step.",
        ),
        (
            [setting(1, None, 1.0, overlap=0.5), setting(3, None, None, overlap=0.5)],
            "All 2 settings have the same overlap, 0.50. "
            "Fewest tokens: hybrid, top-k 4, exactly top-k, at 1 token per step.",
        ),
        ([setting(1, 0.25, None)], "Best: hybrid, top-k 4, exactly top-k, with recall 0.25."),
        ([WAITING], None),
        ([], None),
    ],
)
def test_the_best_setting_is_named_in_one_sentence(rows: list[SweepRowOut], finding: str | None) -> None:
    assert finding_of(rows, finished=True) == finding


def test_an_unfinished_sweep_names_the_best_setting_so_far() -> None:
    found = finding_of([*MEASURED[:2], WAITING], finished=False)
    assert found is not None
    assert found.startswith("Best so far: hybrid")
    both = finding_of(MEASURED, finished=False)
    assert both is not None
    assert both.startswith("2 of 3 settings measured so far have the best recall")


def test_the_embedding_model_is_named_where_there_are_several() -> None:
    several = [each.model_copy(update={"embedding_model": f"m{each.number}"}) for each in MEASURED[:2]]
    found = finding_of(several, finished=True)
    assert found is not None
    assert "adaptive cut-off, m2, with" in found


def test_there_is_no_plot_without_figures() -> None:
    assert sweep_plot([WAITING, setting(1, None, 10.0, overlap=None)]) is None


def test_the_horizontal_axis_ranges_from_zero_to_the_most_tokens() -> None:
    plot = sweep_plot(MEASURED)
    assert plot is not None
    assert [tick.tokens for tick in plot.ticks] == [0, 225, 450, 675, 900]
    assert (plot.ticks[0].x, plot.ticks[-1].x) == (LEFT, RIGHT)
    assert (plot.points[1].x, plot.points[1].y, plot.moved) == (RIGHT, TOP, False)


@given(
    some.lists(
        some.tuples(some.sampled_from([0.0, 0.5, 1.0]), some.sampled_from([0.0, 10.0, 11.0, 400.0])),
        min_size=1,
        max_size=60,
    )
)
def test_no_markers_overlap(figures: list[tuple[float, float]]) -> None:
    plot = sweep_plot([setting(number, *each) for number, each in enumerate(figures)])
    assert plot is not None
    for one, other in combinations(plot.points, 2):
        assert abs(one.x - other.x) >= APART or abs(one.y - other.y) >= APART
    assert all(LEFT <= point.x <= RIGHT for point in plot.points)
    assert {point.number for point in plot.points} == set(range(len(figures)))
