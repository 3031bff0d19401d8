"""The position of a step in a list, from the counts of every hundred steps."""

from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.timeline.pure.scale import Scale

WIDTH = 100
scales = st.lists(st.integers(0, WIDTH), min_size=1, max_size=30).map(
    lambda rows: Scale(rows=rows, width=WIDTH)
)


def test_a_list_of_all_steps_has_an_identity_scale() -> None:
    scale = Scale(rows=[100, 100, 37], width=100)
    assert scale.total == 237
    assert [scale.before(step) for step in (0, 1, 2, 101, 237)] == [0, 0, 1, 100, 200 + 37 * 36 // 100]
    assert [scale.step_at(row) for row in (-5, 0, 1, 100, 199)] == [1, 1, 2, 101, 200]


def test_positions_beyond_the_end_are_the_end() -> None:
    scale = Scale(rows=[10, 0, 5], width=100)
    assert (scale.before(301), scale.before(10_000)) == (15, 15)
    assert scale.step_at(99) == scale.step_at(14)


def test_a_list_without_rows_starts_with_the_first_step() -> None:
    assert Scale(rows=[], width=100).step_at(7) == 1
    assert Scale(rows=[0, 0], width=100).before(150) == 0


@given(scales, st.integers(1, 3_000), st.integers(1, 3_000))
def test_later_steps_have_no_fewer_rows_before_them(scale: Scale, one: int, other: int) -> None:
    assert scale.before(min(one, other)) <= scale.before(max(one, other))


@given(scales, st.data())
def test_the_step_at_a_row_has_that_many_rows_before_it(scale: Scale, data: st.DataObject) -> None:
    if not scale.total:
        return
    row = data.draw(st.integers(0, scale.total - 1))
    assert scale.before(scale.step_at(row)) == row


@given(scales)
def test_the_scale_is_exact_at_hundred_boundaries(scale: Scale) -> None:
    for hundreds in range(len(scale.rows) + 1):
        assert scale.before(hundreds * WIDTH + 1) == sum(scale.rows[:hundreds])
