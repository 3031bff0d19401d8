"""The order of the settings of a sweep in their table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from timemachine.replay.sweeps.schemas import SweepRowOut as Row


def measure_of(rows: Sequence[Row]) -> str:
    """Return the measure of the settings: `recall` if a recorded answer was grounded, else `overlap`."""
    grounded = any(row.result and row.result.recall is not None for row in rows)
    return "recall" if grounded else "overlap"


def ordered(rows: Sequence[Row], by: str) -> list[Row]:
    """Return the rows in the named order (`best` if it is unknown); rows without a value come last."""
    key = _ORDERS.get(by, _best)
    measure = measure_of(rows)
    return sorted(rows, key=lambda row: (*key(row, measure), row.number))


def chosen(by: str) -> str:
    """Return the name of the order, `best` if it is unknown."""
    return by if by in _ORDERS else "best"


def _best(row: Row, measure: str) -> tuple[float, ...]:
    found = _figure(row, measure)
    return (1.0, 0.0) if found is None else (0.0, -found, *_fewest(row, measure))


def _fewest(row: Row, _: str) -> tuple[float, ...]:
    tokens = _figure(row, "tokens_per_step")
    return (1.0, 0.0) if tokens is None else (0.0, tokens)


def _launched(_: Row, __: str) -> tuple[float, ...]:
    return ()


def _figure(row: Row, name: str) -> float | None:
    found = getattr(row.result, name) if row.result else None
    return None if found is None else float(found)


_ORDERS: Final[Mapping[str, Callable[[Row, str], tuple[float, ...]]]] = {
    "best": _best,
    "tokens": _fewest,
    "number": _launched,
}
