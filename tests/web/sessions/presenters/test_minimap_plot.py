"""The minimap, drawn from the counts of its columns."""

import re

from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.timeline.minimap import LANES, Minimap, StepRange
from timemachine.web.sessions.presenters.minimap_plot import HEIGHT, LANE_HEIGHT, LEAST, MOST_PINS, TOP, plot

BAR = re.compile(r"M(\d+) (\d+)h(\d+)v-(\d+)h-(\d+)z")


def drawn(columns: list[dict[str, int]], width: int, errors: list[int] | None = None) -> Minimap:
    lanes = {name: [column.get(name, 0) for column in columns] for name in LANES}
    return Minimap(
        span=StepRange(first=1, last=len(columns) * width),
        width=width,
        lanes=lanes,
        errors=errors or [0] * len(columns),
    )


def test_a_full_column_fills_its_lane_and_a_single_step_is_visible() -> None:
    found = plot(drawn([{"model": 100}, {"model": 1, "tool": 99}, {"tool": 100}], 100, [0, 1, 0]))
    by_name = {lane.name: lane for lane in found.lanes}
    floor = TOP + 12 + LANE_HEIGHT
    assert by_name["model"].path == f"M0 {floor}h1v-{LANE_HEIGHT}h-1zM1 {floor}h1v-{LEAST}h-1z"
    assert by_name["model"].steps == 101
    assert by_name["agent"].path == ""
    assert (found.errors, found.error_steps) == ("M1 6h1v-6h-1z", 1)


def test_the_last_column_is_as_wide_as_its_steps() -> None:
    found = plot(
        Minimap(span=StepRange(first=1, last=25), width=10, lanes={"agent": [10, 10, 5]}, errors=[0, 0, 0])
    )
    assert found.columns == 2.5


def test_a_step_with_notes_is_a_pin_in_the_middle_of_its_position() -> None:
    found = plot(drawn([{"model": 10}, {"model": 10}], 10), [1, 16])
    assert (found.pins, found.noted, found.more_noted) == ("M0.05 5h0M1.55 5h0", [1, 16], False)


def test_only_the_first_of_very_many_steps_with_notes_are_drawn_and_flagged() -> None:
    found = plot(drawn([{"model": 1}] * 600, 1), list(range(1, MOST_PINS + 2)))
    assert (found.pins.count("M"), found.noted[-1], found.more_noted) == (MOST_PINS, MOST_PINS, True)


@given(st.lists(st.dictionaries(st.sampled_from(sorted(LANES)), st.integers(1, 50)), min_size=1, max_size=60))
def test_every_column_with_a_step_has_a_bar_within_its_lane(columns: list[dict[str, int]]) -> None:
    for place, lane in enumerate(plot(drawn(columns, 250)).lanes):
        covered = set()
        floor = TOP + place * 12 + LANE_HEIGHT
        for at, bottom, wide, high, back in BAR.findall(lane.path):
            assert wide == back
            assert int(bottom) == floor <= HEIGHT
            assert LEAST <= int(high) <= LANE_HEIGHT
            covered |= set(range(int(at), int(at) + int(wide)))
        assert covered == {at for at, column in enumerate(columns) if column.get(lane.name)}
        assert "".join(match[0] for match in BAR.finditer(lane.path)) == lane.path
