"""Where a step lies in a list, by what every hundred steps have of it."""

from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.timeline.pure.scale import Scale

WIDTH = 100
scales = st.lists(st.integers(0, WIDTH), min_size=1, max_size=30).map(
    lambda rows: Scale(rows=rows, width=WIDTH)
)


def test_a_list_of_every_step_is_its_own_scale() -> None:
    scale = Scale(rows=[100, 100, 37], width=100)
    assert scale.total == 237
    assert [scale.before(step) for step in (0, 1, 2, 101, 237)] == [0, 0, 1, 100, 200 + 37 * 36 // 100]
    assert [scale.step_at(row) for row in (-5, 0, 1, 100, 199)] == [1, 1, 2, 101, 200]


def test_beyond_the_end_is_the_end() -> None:
    scale = Scale(rows=[10, 0, 5], width=100)
    assert (scale.before(301), scale.before(10_000)) == (15, 15)
    assert scale.step_at(99) == scale.step_at(14)


def test_a_list_without_rows_begins_with_the_first_step() -> None:
    assert Scale(rows=[], width=100).step_at(7) == 1
    assert Scale(rows=[0, 0], width=100).before(150) == 0


@given(scales, st.integers(1, 3_000), st.integers(1, 3_000))
def test_later_steps_have_no_fewer_rows_before_them(scale: Scale, one: int, other: int) -> None:
    assert scale.before(min(one, other)) <= scale.before(max(one, other))


@given(scales, st.data())
def test_so_many_rows_come_before_the_step_at_a_row(scale: Scale, data: st.DataObject) -> None:
    if not scale.total:
        return
    row = data.draw(st.integers(0, scale.total - 1))
    assert scale.before(scale.step_at(row)) == row


@given(scales)
def test_at_the_ends_of_every_hundred_it_is_exact(scale: Scale) -> None:
    for whole in range(len(scale.rows) + 1):
        assert scale.before(whole * WIDTH + 1) == sum(scale.rows[:whole])
