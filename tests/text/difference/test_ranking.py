import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.difference.ranking import Move, Ranked, compare_rankings, rank_biased_overlap

LISTS = st.lists(st.integers(0, 9), unique=True, max_size=8)


def ranked(keys: str) -> list[Ranked]:
    return [Ranked(key=key, rank=rank) for rank, key in enumerate(keys, start=1)]


@pytest.mark.parametrize(
    ("old", "new", "verdict", "gained", "lost", "overlap"),
    [
        ("", "", "same", (), (), None),
        ("ab", "ab", "same", (), (), 1.0),
        ("ab", "ba", "reordered", (), (), 1.0),
        ("ab", "cb", "changed", ("c",), ("a",), 0.5),
        ("ab", "", "changed", (), ("a", "b"), 0.0),
        ("a", "ab", "changed", ("b",), (), 0.5),
        ("ab", "abc", "changed", ("c",), (), 2 / 3),
    ],
)
def test_two_lists_are_the_same_reordered_or_changed(
    old: str, new: str, verdict: str, gained: tuple[str, ...], lost: tuple[str, ...], overlap: float | None
) -> None:
    found = compare_rankings(ranked(old), ranked(new), 10)
    assert (found.verdict, found.gained, found.lost, found.overlap) == (verdict, gained, lost, overlap)


def test_an_item_that_changed_its_rank_reports_both_ranks() -> None:
    old = [Ranked(key="a", rank=1), Ranked(key="b", rank=2), Ranked(key="c", rank=3)]
    new = [Ranked(key="c", rank=1), Ranked(key="a", rank=2), Ranked(key="b", rank=3)]
    found = compare_rankings(old, new, 3)
    assert found.moved[0] == Move(key="a", old_rank=1, new_rank=2)
    assert [move.old_rank - move.new_rank for move in found.moved] == [-1, -1, 2]


def test_only_the_first_k_items_count_and_a_duplicate_has_its_better_rank() -> None:
    old = [Ranked(key="b", rank=2), Ranked(key="a", rank=1), Ranked(key="a", rank=3), Ranked(key="c", rank=4)]
    found = compare_rankings(old, ranked("abd"), 2)
    assert (found.verdict, found.overlap, found.rank_biased_overlap) == ("same", 1.0, 1.0)


@settings(deadline=None)
@given(LISTS, LISTS)
def test_rank_biased_overlap_is_between_0_and_1_and_symmetric(one: list[int], other: list[int]) -> None:
    found = rank_biased_overlap(one, other)
    assert found == rank_biased_overlap(other, one)
    assert found is None if not one and not other else found is not None and 0 <= found <= 1


@settings(deadline=None)
@given(LISTS)
def test_a_list_overlaps_fully_with_itself_and_not_at_all_with_an_empty_one(items: list[int]) -> None:
    if items:
        assert rank_biased_overlap(items, items) == pytest.approx(1)
        assert rank_biased_overlap(items, []) == 0


def test_rank_biased_overlap_matches_the_paper() -> None:
    # equation 32 computed manually, p = 0.9: depths 1 to 3 share 0, 2, 2 of lists a b | b a c
    expected = (0.1 / 0.9) * (0 + 1 * 0.81 + 2 / 3 * 0.729 + 2 * 1 / (2 * 3) * 0.729) + (
        0 / 3 + 2 / 2
    ) * 0.729
    assert rank_biased_overlap(["a", "b"], ["b", "a", "c"]) == pytest.approx(expected)


@given(st.lists(st.integers(), unique=True, min_size=2, max_size=8), st.data())
def test_a_list_that_is_a_prefix_of_the_other_agrees_fully_down_to_its_end(
    items: list[int], data: st.DataObject
) -> None:
    common = data.draw(st.integers(1, len(items) - 1))
    was = [Ranked(key=key, rank=rank) for rank, key in enumerate(items, start=1)]
    found = compare_rankings(was, was[:common], len(items))
    assert found.rank_biased_overlap == pytest.approx(1)
    assert (found.depth, found.overlap) == (common, common / len(items))
    assert compare_rankings(was, was, len(items)).depth is None


def test_agreement_at_the_top_counts_more() -> None:
    top = rank_biased_overlap("abcde", "abxyz")
    bottom = rank_biased_overlap("abcde", "xyzde")
    assert top is not None
    assert bottom is not None
    assert top > bottom


def lists(keys: list[int]) -> list[Ranked]:
    return [Ranked(key=key, rank=rank) for rank, key in enumerate(keys, start=1)]


DEPTHS = st.integers(1, 10)


@given(LISTS, DEPTHS)
def test_a_list_compared_with_itself_is_the_same(items: list[int], k: int) -> None:
    found = compare_rankings(lists(items), lists(items), k)
    assert (found.verdict, found.gained, found.lost, found.moved) == ("same", (), (), ())
    assert (found.k, found.persistence) == (k, 0.9)


@given(LISTS, LISTS, DEPTHS)
def test_swapping_the_lists_swaps_gained_and_lost_and_reverses_every_move(
    one: list[int], other: list[int], k: int
) -> None:
    forward, backward = (
        compare_rankings(lists(one), lists(other), k),
        compare_rankings(lists(other), lists(one), k),
    )
    assert (set(forward.gained), set(forward.lost)) == (set(backward.lost), set(backward.gained))
    assert {(move.key, move.old_rank, move.new_rank) for move in forward.moved} == {
        (move.key, move.new_rank, move.old_rank) for move in backward.moved
    }
    assert (forward.verdict, forward.overlap) == (backward.verdict, backward.overlap)


@given(LISTS, LISTS, DEPTHS)
def test_the_new_list_is_the_old_one_without_the_lost_and_with_the_gained_items(
    one: list[int], other: list[int], k: int
) -> None:
    found = compare_rankings(lists(one), lists(other), k)
    assert set(one[:k]) - set(found.lost) | set(found.gained) == set(other[:k])
    ranks = {key: rank for rank, key in enumerate(other[:k], start=1)}
    assert all(ranks[move.key] == move.new_rank for move in found.moved if isinstance(move.key, int))


@given(st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=8), st.data())
def test_a_swap_at_the_top_costs_at_least_as_much_overlap_as_one_below_it(
    items: list[int], data: st.DataObject
) -> None:
    high = data.draw(st.integers(0, max(len(items) - 2, 0)))
    low = data.draw(st.integers(high, max(len(items) - 2, 0)))
    at_the_top, below = (rank_biased_overlap(items, swapped(items, at)) for at in (high, low))
    assert at_the_top is not None
    assert below is not None
    assert at_the_top <= below + 1e-9


def swapped(items: list[int], at: int) -> list[int]:
    return [*items[:at], *reversed(items[at : at + 2]), *items[at + 2 :]]
