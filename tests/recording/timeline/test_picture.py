"""The picture of a session, drawn from plain data: its axis, lanes, groups and costs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.timeline.pure.axis import COLUMNS, FOLD, step_axis, time_axis
from timemachine.recording.timeline.pure.picture import (
    DEEPEST,
    LANE_OF,
    LATEST,
    MOST_AGENTS,
    MOST_BARS,
    OTHERS,
    AxisName,
    Piece,
    depths,
    picture,
    running_cost,
)
from timemachine.recording.timeline.pure.ticks import step_ticks, time_ticks

NINE = 1_763_629_200.0  # 20 November 2025, 9:00 UTC


def step(sequence: int, at: float | None = None, took: float = 1.0, **more: object) -> Piece:
    begins = None if at is None else NINE + at
    made = Piece(
        first=sequence,
        last=sequence,
        kind="event",
        begins=begins,
        ends=None if begins is None else begins + took,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def test_every_kind_has_a_lane() -> None:
    assert set(LANE_OF) == set(KINDS)


def test_a_long_gap_is_folded_and_a_usual_pause_is_not() -> None:
    axis = time_axis([(0, 100), (150, 200), (30_000, 30_100)])
    assert [(gap.begins, gap.ends, gap.seconds) for gap in axis.gaps] == [(200, 30_000, 29_800)]
    assert axis.shown == 300
    assert axis.place(200) == pytest.approx((COLUMNS - FOLD) * 2 / 3)
    assert axis.place(9_000) == axis.place(200)
    assert (axis.place(-5), axis.place(99_999)) == (0, COLUMNS)


def test_the_same_pause_between_all_steps_is_not_folded() -> None:
    assert not time_axis([(at * 90.0, at * 90.0) for at in range(40)]).gaps


def test_points_in_time_far_apart_share_the_axis() -> None:
    axis = time_axis([(0, 0), (5_000, 5_000)])
    assert [(each.left, each.right) for each in axis.segments] == [(0, 295.5), (304.5, 600)]
    assert axis.place(5_000) == pytest.approx(452.25)


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e6)), min_size=1, max_size=60))
def test_places_are_in_the_order_of_time_and_on_the_axis(spans: list[tuple[float, float]]) -> None:
    axis = time_axis([(begins, begins + took) for begins, took in spans])
    placed = [axis.place(begins) for begins, _ in sorted(spans)]
    assert placed == sorted(placed)
    assert all(0 <= at <= COLUMNS + 1e-6 for at in placed)
    ticks = time_ticks(axis)
    assert 1 <= len(ticks) <= 12


@pytest.mark.parametrize(
    ("seconds", "labels"),
    [
        (0, ["20 Nov 09:00:00"]),
        (0.4, ["+0 ms", "+100 ms", "+200 ms"]),
        (9, ["+0 s", "+2 s", "+4 s"]),
        (100, ["20 Nov 09:00:00", "09:00:15", "09:00:30"]),
        (7_200, ["20 Nov 09:00", "09:15", "09:30"]),
        (200_000, ["20 Nov 09:00", "21 Nov 00:00", "12:00"]),
        (1_000_000, ["20 Nov 09:00", "22 Nov 00:00", "24 Nov 00:00"]),
    ],
)
def test_ticks_are_clock_times_or_elapsed_ones_of_short_sessions(seconds: float, labels: list[str]) -> None:
    found = [each.label for each in time_ticks(time_axis([(NINE, NINE + seconds)]))]
    assert found[: len(labels)] == labels


def test_steps_have_round_numbers_as_ticks() -> None:
    assert [each.label for each in step_ticks(step_axis(1, 6_300))] == [
        "1",
        "1,000",
        "2,000",
        "3,000",
        "4,000",
        "5,000",
        "6,000",
    ]
    assert [each.label for each in step_ticks(step_axis(7, 9))] == ["7", "8", "9"]


def test_nothing_is_drawn_without_steps_or_without_times() -> None:
    assert picture([], "steps", 1, 1) is None
    assert picture([step(1)], "time", 1, 1) is None


def test_steps_without_a_time_are_counted_but_not_drawn() -> None:
    found = picture([step(1, 0), step(2), step(3, 5)], "time", 1, 3)
    assert found is not None
    assert (found.number, found.untimed) == (2, 1)
    assert found.at(2) == found.at(1)
    assert found.at(0) == 0


def test_nested_steps_of_an_agent_are_drawn_below_their_parents() -> None:
    pieces = [step(number, number, depth=number - 1) for number in range(1, 8)]
    found = picture(pieces, "time", 1, 7)
    assert found is not None
    [lane] = found.lanes
    assert (lane.name, lane.rows, [bar.row for bar in lane.bars]) == (
        "nested steps",
        DEEPEST,
        [0, 1, 2, 3, 3, 3, 3],
    )


def test_each_agent_has_lanes_of_its_kinds_and_rare_agents_share_theirs() -> None:
    agents = [f"agent {number}" for number in range(MOST_AGENTS + 2)]
    pieces = [
        step(number + 1, number, agent=agent, kind=kind)
        for number, (agent, kind) in enumerate(
            (agent, kind) for agent in agents for kind in ("message", "ask")
        )
    ]
    found = picture(pieces, "steps", 1, len(pieces))
    assert found is not None
    assert [(lane.agent, lane.name) for lane in found.lanes[:2]] == [
        ("agent 0", "messages"),
        ("agent 0", "asks"),
    ]
    assert {lane.agent for lane in found.lanes} == {*agents[:MOST_AGENTS], OTHERS}


@pytest.mark.parametrize("axis", ["steps", "time"])
def test_many_steps_are_drawn_as_density_and_counted_once(axis: AxisName) -> None:
    number = MOST_BARS + 100
    pieces = [
        step(at, at / 10, errors=at % 50 == 0, cost=0.5, kind="ask" if at % 3 else "checkpoint")
        for at in range(1, number + 1)
    ]
    found = picture(pieces, axis, 1, number)
    assert found is not None
    assert sum(each.number for each in found.groups) == found.number == number
    assert sum(each.errors for each in found.groups) == found.errors == 10
    assert all(len(lane.density) == COLUMNS and max(lane.density) <= 1 for lane in found.lanes)
    assert max(max(lane.density) for lane in found.lanes) == 1
    assert running_cost(found.groups)[-1][1] == found.cost == number / 2
    assert len(found.checkpoints) == number // 3
    assert all(0 <= found.at(at) <= COLUMNS for at in range(1, number + 1))


def test_steps_that_were_counted_together_are_spread_evenly() -> None:
    pieces = [
        Piece(first=1, last=100, kind="ask", number=100),
        Piece(first=101, last=200, kind="find", number=25, unknown=3),
    ]
    found = picture(pieces, "steps", 1, 200)
    assert found is not None
    models, retrieval = found.lanes
    assert (set(models.density[:300]), set(models.density[300:])) == ({1.0}, {0.0})
    assert set(retrieval.density[300:]) == {0.5}
    assert running_cost(found.groups) == []
    assert found.unknown == 3


def test_a_duration_beyond_any_calendar_ends_with_it() -> None:
    found = picture([step(1, 0, took=1e300), step(2, 1, took=-5)], "time", 1, 2)
    assert found is not None
    assert found.axis.ends == LATEST
    assert found.ticks


def test_depths_follow_parents_and_survive_circles() -> None:
    assert depths({1: None, 2: 1, 3: 2, 4: 99, 5: 6, 6: 5}) == {1: 0, 2: 1, 3: 2, 4: 0, 5: 1, 6: 0}
    assert depths({3: 2, 2: 1, 1: None}) == {1: 0, 2: 1, 3: 2}
