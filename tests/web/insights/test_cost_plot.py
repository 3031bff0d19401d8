"""The cost plot: a bar per day, marked where prices are unknown, or a bar per week where days would be too thin."""

from datetime import date, timedelta
from decimal import Decimal
from uuid import uuid4

from timemachine.recording.usage.pure.figures import Cell, Row, Sums
from timemachine.recording.usage.pure.span import Span
from timemachine.web.insights.presenters.cost_plot import (
    BOTTOM,
    LEFT,
    MARK,
    RIGHT,
    TOP,
    cost_plot,
)
from timemachine.web.insights.presenters.cost_stack import series_of

FIRST = date(2026, 11, 1)


def span(days: int) -> Span:
    return Span(since=FIRST, until=FIRST + timedelta(days=days - 1))


def row(day: int, cost: str | None = None, unknown: int = 0) -> Row:
    sums = Sums(cost_usd=None if cost is None else Decimal(cost), unknown_cost_calls=unknown)
    return Row(value=FIRST + timedelta(days=day), sums=sums)


def test_there_is_no_plot_without_costs() -> None:
    assert cost_plot([], span(3)) is None
    assert cost_plot([row(0)], span(3)) is None


def test_every_day_has_a_bar_and_the_most_expensive_reaches_the_top() -> None:
    plot = cost_plot([row(0, "4"), row(2, "1"), row(3, "0.00001")], span(4))
    assert plot is not None
    assert [bar.height for bar in plot.bars] == [BOTTOM - TOP, 0, (BOTTOM - TOP) / 4, 1]
    assert [bar.y + bar.height for bar in plot.bars] == [BOTTOM] * 4
    assert all(bar.x >= LEFT and bar.x + bar.width <= RIGHT for bar in plot.bars)
    assert [tick.words for tick in plot.upwards] == ["$0", "$2.00", "$4.00"]
    assert [tick.words for tick in plot.across] == ["2026-11-01", "2026-11-03", "2026-11-04"]
    assert plot.unknown == 0


def test_a_day_with_unknown_prices_is_marked_and_labelled() -> None:
    plot = cost_plot([row(0, "4", 2), row(1, unknown=1)], span(2))
    assert plot is not None
    assert [bar.mark for bar in plot.bars] == [TOP - MARK, BOTTOM - MARK]
    assert [bar.says for bar in plot.bars] == [
        "2026-11-01: $4.00 + 2 calls of unknown price",
        "2026-11-02: 1 call of unknown price",
    ]
    assert plot.unknown == 2


def test_with_only_unknown_prices_the_axis_has_only_its_origin() -> None:
    plot = cost_plot([row(0, unknown=1)], span(1))
    assert plot is not None
    assert [tick.words for tick in plot.upwards] == ["$0"]
    assert [tick.words for tick in plot.across] == ["2026-11-01"]


def test_in_a_long_span_a_bar_is_a_week_from_monday_and_the_last_ends_with_the_span() -> None:
    plot = cost_plot([row(57, "1")], span(64))
    assert plot is not None
    assert len(plot.bars) == 10
    assert plot.bars[0].says == "2026-11-01 to 2026-11-01: not recorded"
    assert plot.bars[-1].says == "2026-12-28 to 2027-01-03: $1.00"


def test_the_parts_of_a_bar_are_the_models_and_add_up_to_the_bar() -> None:
    cells = [cell(f"acme:{number}", str(cost)) for number, cost in enumerate((9, 5, 4, 3, 2, 1, 1))]
    series = series_of(cells, span(1))
    assert [each.name for each in series] == [*(f"acme:{number}" for number in range(5)), "2 other models"]
    plot = cost_plot([row(0, "25")], span(1), series)
    assert plot is not None
    (bar,) = plot.bars
    assert bar.height == BOTTOM - TOP
    assert abs(sum(part.height for part in bar.parts) - bar.height) < 0.5  # each is rounded
    assert round(bar.parts[0].y + bar.parts[0].height, 1) == BOTTOM
    assert bar.parts[-1].y == TOP


def test_costs_without_a_model_are_a_part_of_their_own() -> None:
    assert [each.name for each in series_of([cell(None, "2"), cell("acme:a", "1")], span(1))] == [
        None,
        "acme:a",
    ]


def cell(model: str | None, cost: str) -> Cell:
    sums = Sums(cost_usd=Decimal(cost), calls=1)
    return Cell(
        key=uuid4(), sessions=1, day=FIRST, kind="llm_call", agent=None, model=model, tool=None, sums=sums
    )
