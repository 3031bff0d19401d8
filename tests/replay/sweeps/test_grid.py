"""The settings of a sweep and its totals: pure functions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.errors import InvalidInput
from timemachine.replay.sweeps.pure.grid import Grid, Setting, check_size, settings_of
from timemachine.replay.sweeps.worker import Measured, tallied


def test_every_combination_is_tried_once_and_lexical_ones_once_for_all_models() -> None:
    found = settings_of(
        Grid(modes=["semantic", "lexical"], top_k=[4, 4, 8], adaptive=[True], embedding_models=["a", "b"])
    )
    assert [(each.mode, each.top_k, each.embedding_model) for each in found] == [
        ("semantic", 4, "a"),
        ("semantic", 8, "a"),
        ("semantic", 4, "b"),
        ("semantic", 8, "b"),
        ("lexical", 4, None),
        ("lexical", 8, None),
    ]
    assert [Setting(**each.model_dump()) for each in found] == found


@pytest.mark.parametrize(
    "grid",
    [
        Grid(modes=[]),
        Grid(top_k=[]),
        Grid(adaptive=[]),
        Grid(top_k=[1_001]),
        Grid(top_k=range(1, 100)),
    ],
)
def test_an_invalid_grid_is_refused(grid: Grid) -> None:
    with pytest.raises(InvalidInput):
        settings_of(grid)


@pytest.mark.parametrize(("tried", "steps"), [(1, 0), (200, 101)])
def test_a_sweep_has_at_least_one_find_and_not_too_many(tried: int, steps: int) -> None:
    with pytest.raises(InvalidInput):
        check_size(tried, steps)
    check_size(200, 100)


def test_a_grid_is_stored_as_requested() -> None:
    assert Grid(top_k=(1,), as_of="now").model_dump(mode="json") == {
        "modes": ["hybrid", "semantic", "lexical"],
        "top_k": [1],
        "adaptive": [False, True],
        "embedding_models": [],
        "as_of": "now",
    }
    assert Setting(mode="lexical", top_k=1, adaptive=False).embedding_model is None


def measured(grounded: int = 0, found: int = 0, overlap: float | None = None) -> Measured:
    return Measured(
        hits=2,
        tokens=10,
        overlap=overlap,
        rank_biased_overlap=overlap,
        grounded=grounded,
        grounded_found=found,
    )


def test_figures_are_added_up_and_missing_ones_are_unknown() -> None:
    empty = tallied([])
    assert (empty.recall, empty.overlap, empty.tokens_per_step) == (None, None, None)
    found = tallied([measured(2, 1, 0.5), measured(1, 1, 1.0), measured()])
    assert (found.recall, found.overlap, found.tokens_per_step) == (2 / 3, 0.75, 10)
    assert (found.steps, found.hits, found.tokens) == (3, 6, 30)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1)), max_size=8))
def test_recall_and_overlap_stay_between_0_and_1(steps: list[tuple[int, float]]) -> None:
    found = tallied([measured(grounded, grounded // 2, overlap) for grounded, overlap in steps])
    for name in ("recall", "overlap", "rank_biased_overlap"):
        share = getattr(found, name)
        assert share is None or 0 <= share <= 1
