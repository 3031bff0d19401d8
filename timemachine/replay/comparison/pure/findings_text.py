"""Reading and writing findings as stored JSON. It holds numbers only, no text of a question or an answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final
from uuid import UUID

from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.metrics import VariantPair, VariantTotals
from timemachine.replay.comparison.pure.statistics.intervals import Interval
from timemachine.replay.comparison.pure.statistics.paired import PairedResult
from timemachine.replay.comparison.pure.statistics.summaries import Spread

# Increase this when the same cells lead to other numbers or another format: stored findings are then computed again.
FORM: Final = 5
# Errors are read from their steps, because their text is deleted with the session.
_CELL: Final = tuple(each.name for each in fields(Cell) if each.name != "error")
_REPLAY: Final = _CELL.index("replay")


def written(found: Findings) -> str:
    """Return the findings as JSON."""
    replays: dict[UUID, int] = {}
    return json.dumps(
        {
            "asks": [_written_ask(each, replays) for each in found.asks],
            "columns": [asdict(each) for each in found.columns],
            "ordered": [asdict(each) for each in found.ordered],
            "noise": [asdict(each) for each in found.noise],
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
        question="",
        recorded=recorded,
        runs={(cell.arm, cell.repeat): cell for cell in runs},
    )


def _cell(stored: list[Any], replays: Sequence[UUID]) -> Cell:
    place = stored[_REPLAY]
    return Cell(
        **dict(zip(_CELL, stored, strict=True)) | {"replay": None if place is None else replays[place]}
    )


def _totals(stored: Mapping[str, Any]) -> VariantTotals:
    spreads = {name: Spread(**stored[name]) for name in ("cost", "latency", "tokens")}
    intervals = {name: _interval(stored[name]) for name in ("grounding_interval", "agreement_interval")}
    return VariantTotals(**{**stored, **spreads, **intervals})


def _pair(stored: Mapping[str, Any]) -> VariantPair:
    return VariantPair(**{**stored, "results": [_result(each) for each in stored["results"]]})


def _result(stored: Mapping[str, Any]) -> PairedResult:
    pairs = tuple((a, b) for a, b in stored["pairs"])
    return PairedResult(**{**stored, "interval": _interval(stored["interval"]), "pairs": pairs})


def _interval(stored: Mapping[str, Any] | None) -> Interval | None:
    return None if stored is None else Interval(**stored)
