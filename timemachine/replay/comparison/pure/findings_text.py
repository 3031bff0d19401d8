"""Findings as the text in which they are kept, and read again. No text of an ask or an answer is in it: figures alone. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final
from uuid import UUID

from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.metrics import ArmPair, ArmTotals
from timemachine.replay.comparison.pure.statistics.intervals import Interval
from timemachine.replay.comparison.pure.statistics.paired import PairedResult
from timemachine.replay.comparison.pure.statistics.summaries import Spread

# Goes up whenever the same cells come to other figures or are written otherwise: what was kept before is then made anew.
FORM: Final = 5
# An error is told from its step, whose text goes with its session.
_CELL: Final = tuple(each.name for each in fields(Cell) if each.name != "error")
_REPLAY: Final = _CELL.index("replay")


def written(found: Findings) -> str:
    """The findings as JSON."""
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
    """The findings that `written` wrote, without questions, names and errors."""
    kept = json.loads(text)
    replays = [UUID(each) for each in kept["replays"]]
    return Findings(
        asks=[_ask(each, replays) for each in kept["asks"]],
        columns=[_totals(each) for each in kept["columns"]],
        ordered=[_pair(each) for each in kept["ordered"]],
        noise=[_pair(each) for each in kept["noise"]],
    )


def _written_ask(ask: Ask, replays: dict[UUID, int]) -> list[Any]:
    cells = [_written_cell(cell, replays) for cell in (ask.recorded, *ask.runs.values())]
    return [str(ask.session), ask.sequence, ask.action, cells]


def _written_cell(cell: Cell, replays: dict[UUID, int]) -> list[Any]:
    place = None if cell.replay is None else replays.setdefault(cell.replay, len(replays))
    return [place if name == "replay" else getattr(cell, name) for name in _CELL]


def _ask(kept: Sequence[Any], replays: Sequence[UUID]) -> Ask:
    session, sequence, action, cells = kept
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


def _cell(kept: list[Any], replays: Sequence[UUID]) -> Cell:
    place = kept[_REPLAY]
    return Cell(**dict(zip(_CELL, kept, strict=True)) | {"replay": None if place is None else replays[place]})


def _totals(kept: Mapping[str, Any]) -> ArmTotals:
    spreads = {name: Spread(**kept[name]) for name in ("cost", "latency", "tokens")}
    intervals = {name: _interval(kept[name]) for name in ("grounding_interval", "agreement_interval")}
    return ArmTotals(**{**kept, **spreads, **intervals})


def _pair(kept: Mapping[str, Any]) -> ArmPair:
    return ArmPair(**{**kept, "results": [_result(each) for each in kept["results"]]})


def _result(kept: Mapping[str, Any]) -> PairedResult:
    pairs = tuple((a, b) for a, b in kept["pairs"])
    return PairedResult(**{**kept, "interval": _interval(kept["interval"]), "pairs": pairs})


def _interval(kept: Mapping[str, Any] | None) -> Interval | None:
    return None if kept is None else Interval(**kept)
