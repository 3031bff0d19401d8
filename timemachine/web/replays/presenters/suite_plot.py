"""The runs of a suite as a row of small bars for each verdict, oldest on the left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from timemachine.replay.runs.pure.summary import VERDICT_ORDER
from timemachine.replay.suites.models import SuiteRun
from timemachine.replay.suites.queries import RunCounts

BAR, GAP, HEIGHT = 8, 3, 20
_ORDER: Final = (*VERDICT_ORDER, "same", "reordered", "verified", "altered", "missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The number of steps of a run with the verdict."""

    run: int
    number: int
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """One verdict over the runs, and its number in the latest run."""

    verdict: str
    bars: Sequence[Bar]
    latest: int
    width: int
    height: int = HEIGHT


def verdict_rows(runs: Sequence[SuiteRun], counts: Mapping[UUID, RunCounts]) -> list[VerdictRow]:
    """Return a row for each verdict that occurs; the runs are given latest first. All bars have the same scale."""
    oldest_first = [(run.number, _verdicts(counts[run.id])) for run in reversed(runs)]
    most = max((number for _, verdicts in oldest_first for number in verdicts.values()), default=1)
    seen = {verdict for _, verdicts in oldest_first for verdict in verdicts}
    return [
        VerdictRow(
            verdict=verdict,
            bars=[
                _bar(place, run, verdicts.get(verdict, 0), most)
                for place, (run, verdicts) in enumerate(oldest_first)
            ],
            latest=oldest_first[-1][1].get(verdict, 0),
            width=len(oldest_first) * (BAR + GAP),
        )
        for verdict in sorted(seen, key=_place)
    ]


def _verdicts(counts: RunCounts) -> Mapping[str, int]:
    """Return the verdicts of answers; without answers those of retrieval, and without these those of contexts."""
    return counts.verdicts or counts.retrievals or counts.contexts


def _place(verdict: str) -> int:
    return _ORDER.index(verdict) if verdict in _ORDER else len(_ORDER)


def _bar(place: int, run: int, number: int, most: int) -> Bar:
    height = round(max(HEIGHT * number / most, 1 if number else 0), 1)
    return Bar(run=run, number=number, x=place * (BAR + GAP), y=HEIGHT - height, height=height)
