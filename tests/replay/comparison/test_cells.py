"""What is missing among the answers to an ask, and why."""

from uuid import UUID

import pytest

from timemachine.core.pure.model_steps import ModelSteps
from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.metrics import noun_of


def ask(*cells: Cell) -> Ask:
    return Ask(
        session=UUID(int=1),
        session_name="s",
        sequence=1,
        action=1,
        label="?",
        recorded=Cell(arm=0),
        runs={(cell.arm, cell.repeat): cell for cell in cells},
    )


def test_the_noise_floor_run_does_not_count_as_a_run_of_its_variant() -> None:
    run, noise = Cell(arm=1), Cell(arm=1, repeat=0)
    assert ask(run, noise).cells(1) == [run]
    assert ask(run, noise).noise(1) == [noise]
    assert ask(run, noise).answers == [Cell(arm=0), noise, run]


@pytest.mark.parametrize(
    ("cell", "lacking"),
    [
        (Cell(arm=1, verdict="identical"), set()),
        (Cell(arm=1, status="skipped", missing="spend limit"), {"spend limit"}),
        (Cell(arm=1, status="cancelled", missing="cancelled"), {"cancelled"}),
        (Cell(arm=1, missing="not asked"), {"not asked"}),
        (Cell(arm=1, status="failed", missing="error"), {"failed"}),
        (Cell(arm=1, status="failed", verdict="error", missing="error"), set()),
        (Cell(arm=1, status="running", missing="in progress"), set()),
        (Cell(arm=1, repeat=0, status="skipped", missing="spend limit"), set()),
    ],
)
def test_an_ask_lists_what_finished_cells_are_missing(cell: Cell, lacking: set[str]) -> None:
    assert ask(Cell(arm=2), cell).lacking == lacking


def test_a_step_without_a_word_on_tools_is_an_ask() -> None:
    def recorded(called: bool | None) -> Ask:
        return Ask(
            session=UUID(int=1),
            session_name="s",
            sequence=1,
            action=1,
            label="",
            recorded=Cell(arm=0, called=called),
        )

    assert [recorded(called).kind for called in (None, False, True)] == ["ask", "llm_call", "llm_call"]


def test_metrics_of_tools_count_model_calls_whatever_else_is_compared() -> None:
    both = ModelSteps(asks=1, model_calls=2)
    assert [noun_of(each, both) for each in ("cost", "same_tools", "same_arguments")] == [
        "step",
        "model call",
        "model call",
    ]
