import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.difference import align
from timemachine.text.pure.difference.align import Block, blocks, increasing

ITEMS = st.lists(st.integers(0, 5), max_size=30)


def check(old: list[int], new: list[int]) -> list[Block]:
    found = blocks(old, new)
    at = Block(0, 0, 0)
    for block in found:
        assert old[block.old : block.old + block.length] == new[block.new : block.new + block.length]
        assert block.old >= at.old + at.length
        assert block.new >= at.new + at.length
        assert (block.old, block.new) != (at.old + at.length, at.new + at.length) or at.length == 0
        at = block
    return found


@settings(deadline=None)
@given(ITEMS, ITEMS)
def test_blocks_are_equal_runs_in_order_that_do_not_touch(old: list[int], new: list[int]) -> None:
    check(old, new)


@settings(deadline=None)
@given(ITEMS)
def test_a_sequence_is_one_block_when_aligned_with_itself(items: list[int]) -> None:
    assert blocks(items, items) == ([Block(0, 0, len(items))] if items else [])


def test_as_many_items_as_possible_are_aligned() -> None:
    assert sum(block.length for block in blocks([1, 2, 3, 4, 5], [2, 9, 4, 1, 5])) == 3


@settings(deadline=None)
@given(ITEMS, ITEMS)
def test_a_pair_too_large_for_one_table_is_still_aligned(old: list[int], new: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(align, "_EXACT", 4)
        check(old, new)


def test_a_large_pair_is_split_at_items_that_occur_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(align, "_EXACT", 30)
    old = [0, 0, 1, 0, 0, 2, 0, 0, 3, 3]
    new = [0, 1, 0, 0, 0, 2, 0, 3, 0, 3]
    assert sum(block.length for block in check(old, new)) == 8


def test_a_large_pair_without_such_items_is_compared_slice_by_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(align, "_EXACT", 4)
    assert sum(block.length for block in check([1, 2] * 10 + [1], [2, 1] * 10 + [2])) >= 10


@settings(deadline=None)
@given(st.lists(st.integers(0, 20), max_size=20))
def test_the_longest_increasing_run_is_found(values: list[int]) -> None:
    run = [values[index] for index in increasing(values)]
    assert run == sorted(set(run))
    best = [1] * len(values)
    for index, value in enumerate(values):
        best[index] = 1 + max((best[i] for i in range(index) if values[i] < value), default=0)
    assert len(run) == max(best, default=0)
