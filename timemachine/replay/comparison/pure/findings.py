"""The findings of a comparison: every column, every pair of columns, and each variant against itself.

They are stored as JSON, which holds numbers only, no text of a question or an answer.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import permutations
from typing import Any, Final
from uuid import UUID

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.model_steps import ModelSteps
from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.metrics import (
    VariantPair,
    VariantTotals,
    column,
    column_totals,
    compare_columns,
    latency_differs,
    noise_of,
    without_latency,
    without_small_latency,
)
from timemachine.replay.comparison.pure.statistics.intervals import Interval
from timemachine.replay.comparison.pure.statistics.paired import PairedResult
from timemachine.replay.comparison.pure.statistics.summaries import SpreadOut
from timemachine.replay.comparison.pure.variants import RECORDING

# Increase this when the same cells lead to other numbers or another format: stored findings are then computed again.
FORM: Final = 9
# Errors are read from their steps, because their text is deleted with the session.
_CELL: Final = tuple(each.name for each in fields(Cell) if each.name != "error")
_INTERVALS: Final = tuple(name for name in VariantTotals.model_fields if name.endswith("_interval"))
_REPLAY: Final = _CELL.index("replay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The asks and model calls with their answers; a column for the recording and for each variant; every pair of columns; and the noise floor.

    Latencies get a verdict only if they differ by 100 ms or more, and no variant's noise floor shows a difference. `ordered` has each pair in
    both directions, because either column can be the baseline.
    """

    asks: Sequence[Ask]
    columns: Sequence[VariantTotals]
    ordered: Sequence[VariantPair]
    noise: Sequence[VariantPair]

    @property
    def steps(self) -> ModelSteps:
        """Return how many asks and model calls are compared."""
        calls = sum(each.recorded.called is not None for each in self.asks)
        return ModelSteps(asks=len(self.asks) - calls, model_calls=calls)

    @property
    def pairs(self) -> list[VariantPair]:
        """Return each pair of columns once, the lower number first."""
        return [each for each in self.ordered if each.a < each.b]

    def against(self, column: int) -> list[VariantPair]:
        """Return the other columns, each compared with this one (0: the recording)."""
        return [each for each in self.ordered if each.a == column]


def findings(asks: Sequence[Ask], arms: int, *, noise_floor: bool) -> Findings:
    """Compute the findings of this many variants over these asks."""
    columns = [column(asks, each) for each in range(RECORDING, arms + 1)]
    compared = [each.arm for each in columns if each.arm != RECORDING] if noise_floor else []
    noise = without_small_latency([noise_of(asks, arm) for arm in compared])
    ordered = [compare_columns(a, b) for a, b in permutations(columns, 2)]
    return Findings(
        asks=asks,
        columns=[column_totals(asks, each) for each in columns],
        ordered=without_latency(ordered)
        if any(map(latency_differs, noise))
        else without_small_latency(ordered),
        noise=noise,
    )


def written(found: Findings) -> str:
    """Return the findings as JSON."""
    replays: dict[UUID, int] = {}
    return json.dumps(
        {
            "asks": [_written_ask(each, replays) for each in found.asks],
            "columns": [each.model_dump() for each in found.columns],
            "ordered": [each.as_json() for each in found.ordered],
            "noise": [each.as_json() for each in found.noise],
            "replays": [str(each) for each in replays],
        }
    )


def read(text: str) -> Findings:
    """Return the findings that `written` wrote, without questions, names and errors."""
    stored = json.loads(text)
    replays = [UUID(each) for each in stored["replays"]]
    return Findings(
        asks=[_ask(each, replays) for each in stored["asks"]],
        columns=[_totals(each) for each in stored["columns"]],
        ordered=[_pair(each) for each in stored["ordered"]],
        noise=[_pair(each) for each in stored["noise"]],
    )


def _written_ask(ask: Ask, replays: dict[UUID, int]) -> list[Any]:
    cells = [_written_cell(cell, replays) for cell in (ask.recorded, *ask.runs.values())]
    return [str(ask.session), ask.sequence, ask.action, cells]


def _written_cell(cell: Cell, replays: dict[UUID, int]) -> list[Any]:
    place = None if cell.replay is None else replays.setdefault(cell.replay, len(replays))
    return [place if name == "replay" else getattr(cell, name) for name in _CELL]


def _ask(stored: Sequence[Any], replays: Sequence[UUID]) -> Ask:
    session, sequence, action, cells = stored
    recorded, *runs = (_cell(each, replays) for each in cells)
    return Ask(
        session=UUID(session),
        session_name="",
        sequence=sequence,
        action=action,
        label="",
        recorded=recorded,
        runs={(cell.arm, cell.repeat): cell for cell in runs},
    )


def _cell(stored: list[Any], replays: Sequence[UUID]) -> Cell:
    place = stored[_REPLAY]
    return Cell(
        **dict(zip(_CELL, stored, strict=True)) | {"replay": None if place is None else replays[place]}
    )


def _totals(stored: JsonObject) -> VariantTotals:
    spreads = {name: SpreadOut.model_construct(**stored[name]) for name in ("cost", "latency", "tokens")}
    intervals = {name: _interval(stored[name]) for name in _INTERVALS}
    return VariantTotals.model_construct(**stored | spreads | intervals)


def _pair(stored: JsonObject) -> VariantPair:
    results = [
        PairedResult(
            **each | {"interval": _interval(each["interval"]), "pairs": tuple(map(tuple, each["pairs"]))}
        )
        for each in stored["results"]
    ]
    return VariantPair(**stored | {"results": results})


def _interval(stored: JsonObject | None) -> Interval | None:
    return None if stored is None else Interval.model_construct(**stored)
