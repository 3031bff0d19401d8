"""Fusing and cutting rankings: rules by cases and by laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.knowledge.pure.cutoff import (
    WEAKEST,
    Thresholds,
    cut_adaptively,
    cut_at,
    needed_settings,
    settings_in_words,
    strengths,
)
from timemachine.knowledge.pure.fusion import fuse

scores = st.dictionaries(st.integers(0, 50), st.floats(-10, 100, allow_nan=False), max_size=20)


@pytest.mark.parametrize(
    ("found", "top_k", "keep", "cut_by"), [(5, 3, 3, "top_k"), (3, 3, 3, "all"), (0, 3, 0, "all")]
)
def test_a_list_is_cut_at_top_k_or_not_at_all(found: int, top_k: int, keep: int, cut_by: str) -> None:
    cut = cut_at(found, top_k)
    assert (cut.keep, cut.cut_by) == (keep, cut_by)


@pytest.mark.parametrize(
    ("ranked", "floor", "keep", "cut_by"),
    [
        ([10, 9, 8], 0, 3, "all"),
        ([10, 9, 8, 7.9], 0, 3, "top_k"),
        ([10, 7, 4.9], 0, 2, "relative"),
        ([10, 3.9], 0, 1, "cliff"),
        ([10, 9, 1.5], 2, 2, "floor"),
        ([1, 0.5], 2, 0, "floor"),
        ([], 2, 0, "all"),
    ],
)
def test_an_adaptive_cut_names_the_rule_that_cut(
    ranked: list[float], floor: float, keep: int, cut_by: str
) -> None:
    cut = cut_adaptively(ranked, 3, Thresholds(floor=floor))
    assert (cut.keep, cut.cut_by) == (keep, cut_by)


@given(scores, scores)
def test_the_fused_score_of_every_frame_is_between_zero_and_one(
    lexical: dict[int, float], semantic: dict[int, float]
) -> None:
    fused = fuse(lexical, semantic, 0.3)
    assert fused.keys() == lexical.keys() | semantic.keys()
    assert all(0 <= score <= 1 for score in fused.values())


def test_a_frame_ranked_first_by_both_retrievers_comes_first() -> None:
    fused = fuse({1: 9.0, 2: 5.0, 3: 1.0}, {1: 0.9, 3: 0.5, 4: 0.1}, 0.3)
    assert max(fused, key=lambda frame: fused[frame]) == 1


def test_a_frame_has_the_strength_of_its_more_confident_retriever() -> None:
    lexical, semantic = {1: 10.0, 2: 4.0}, {2: 0.6, 3: 0.7, 4: 0.1}
    assert strengths([1, 2, 3, 4, 5], lexical, semantic) == pytest.approx([1, 0.8, 1, 0, 0])
    assert strengths([7], {}, {}) == [0]


def test_a_frame_found_only_by_meaning_survives_among_those_with_shared_words() -> None:
    order = [1, 3, 2, 4]
    cut = cut_adaptively(strengths(order, {1: 10.0, 2: 9.0}, {3: 0.7, 4: 0.1}), 8, Thresholds(floor=WEAKEST))
    assert (cut.keep, cut.cut_by) == (3, "floor")


def test_only_the_floor_can_cut_the_first_of_a_list() -> None:
    assert cut_adaptively([0.4, 1.0, 0.1], 8, Thresholds()).keep == 2


@pytest.mark.parametrize(
    ("thresholds", "keep", "cut_by"),
    [
        (Thresholds(), 2, "cliff"),
        (Thresholds(cliff=0), 2, "relative"),
        (Thresholds(cliff=0, relative=0), 4, "all"),
        (Thresholds(relative=0.9), 1, "relative"),
        (Thresholds(cliff=0.8, relative=0), 1, "cliff"),
        (Thresholds(cliff=0, relative=0, floor=2), 3, "floor"),
    ],
)
def test_thresholds_determine_where_an_adaptive_cut_is_made(
    thresholds: Thresholds, keep: int, cut_by: str
) -> None:
    cut = cut_adaptively([10, 7, 2.5, 1], 8, thresholds)
    assert Thresholds(**thresholds.as_json()) == thresholds
    assert (cut.keep, cut.cut_by) == (keep, cut_by)


@pytest.mark.parametrize(
    ("ranked", "rank", "pool", "needed"),
    [
        ([10, 9, 8], 2, 3, {}),
        ([10, 9, 8], 3, 2, {"pool": 3}),
        ([10, 7, 2.5, 1], 3, 8, {"relative": 0.25, "cliff": 0.357}),
        ([10, 7, 2.5, 1], 4, 2, {"relative": 0.1, "cliff": 0.357, "pool": 4}),
        ([10, 9, 0.05], 3, 8, {"relative": 0.005, "cliff": 0.005, "min_score": 0.05}),
        ([0.1, 0.1], 2, 8, {}),
        ([0.0, 0.0], 2, 8, {"min_score": 0.0}),
        ([10, -1, -5], 3, 8, None),
        ([], 1, 8, None),
    ],
)
def test_the_settings_that_would_keep_a_frame_are_named(
    ranked: list[float], rank: int, pool: int, needed: dict[str, float] | None
) -> None:
    assert needed_settings(ranked, rank, Thresholds(floor=0.1), pool) == needed


@given(st.lists(st.floats(0, 100), min_size=1, max_size=30), st.data())
def test_a_cut_with_the_needed_settings_keeps_the_frame(ranked: list[float], data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, len(ranked)))
    needed = needed_settings(ranked, rank, Thresholds(floor=WEAKEST), pool=8)
    assert needed is not None
    thresholds = Thresholds(
        relative=needed.get("relative", 0.5),
        cliff=needed.get("cliff", 0.4),
        floor=needed.get("min_score", WEAKEST),
    )
    assert cut_adaptively(ranked, int(needed.get("pool", 8)), thresholds).keep >= rank


def test_needed_settings_are_said_as_a_phrase() -> None:
    assert settings_in_words({"pool": 12}) == "pool 12"
    needed = {"relative": 0.25, "cliff": 0.3, "min_score": 0.1}
    assert settings_in_words(needed) == "relative 0.25, cliff 0.3 and min score 0.1"
