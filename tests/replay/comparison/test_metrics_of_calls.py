"""What the metrics of model calls read from an answer, by its verdict."""

import pytest

from timemachine.replay.comparison.pure.cells import Cell
from timemachine.replay.comparison.pure.metrics import GROUNDING, SAME_ARGUMENTS, SAME_TOOLS
from timemachine.replay.comparison.pure.statistics.paired import Reading


def value(number: float) -> Reading:
    return Reading(value=number)


def nothing(why: str) -> Reading:
    return Reading(value=None, missing=why)


@pytest.mark.parametrize(
    ("called", "verdict", "tools", "arguments"),
    [
        (True, "identical", value(1), value(1)),
        (True, "same_action", value(1), value(1)),
        (True, "other_arguments", value(1), value(0)),
        (True, "other_tool", value(0), nothing("another tool")),
        (True, "answers_instead", value(0), nothing("another tool")),
        (False, "calls_instead", value(0), nothing("no tool called")),
        (False, "numbers_differ", value(1), nothing("no tool called")),
        (True, "not_recorded", nothing("not recorded"), nothing("not recorded")),
        (None, "identical", nothing("not a model call"), nothing("not a model call")),
    ],
)
def test_a_verdict_says_whether_tools_and_arguments_are_the_same(
    called: bool | None, verdict: str, tools: Reading, arguments: Reading
) -> None:
    cell = Cell(arm=1, verdict=verdict, called=called)
    assert (SAME_TOOLS.read(cell), SAME_ARGUMENTS.read(cell)) == (tools, arguments)


def test_a_failed_call_has_no_tools_to_compare() -> None:
    cell = Cell(arm=1, verdict="error", called=True, missing="error")
    assert SAME_TOOLS.read(cell) == SAME_ARGUMENTS.read(cell) == nothing("error")


def test_a_model_call_has_no_passages_to_be_grounded_in() -> None:
    assert GROUNDING.read(Cell(arm=1, called=False)) == nothing("a model call has no passages")
