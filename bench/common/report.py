"""The figures of a benchmark: each is printed when measured and compared with its budget, and `make bench` collects all of them in one table."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

KEEP_IN: Final = "BENCH_FIGURES"
"""The environment variable that names a file to append the figures to, one JSON document a line."""
BASELINE: Final = Path(__file__).parents[1] / "baseline.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A bound on the value or on the ratio of a figure: a maximum, or with `least` a minimum."""

    of: str
    bound: float
    least: bool = False

    def __str__(self) -> str:
        sign = "≥" if self.least else "≤"
        return f"{sign} {self.bound:,g}{' ×' if self.of == 'ratio' else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A measured value, and its baseline from the same run: `ratio` is the value divided by the baseline."""

    bench: str
    name: str
    value: float
    unit: str = ""
    against: str = ""
    ratio: float | None = None
    budgets: Sequence[Budget] = ()

    @property
    def key(self) -> str:
        """Return its key in `baseline.json`."""
        return f"{self.bench}: {self.name}"

    @property
    def exceeded(self) -> list[Budget]:
        """Return the budgets that it exceeds."""
        return [each for each in self.budgets if not self._keeps(each)]

    def _keeps(self, budget: Budget) -> bool:
        found = self.ratio if budget.of == "ratio" else self.value
        assert found is not None, f"{self.key} has no ratio"
        return found >= budget.bound if budget.least else found <= budget.bound


_found: list[Figure] = []


def figure(
    name: str,
    value: float,
    unit: str = "",
    *,
    against: tuple[str, float] | None = None,
    most: float | None = None,
    least: float | None = None,
    ratio_most: float | None = None,
    ratio_least: float | None = None,
) -> None:
    """Print and store a figure. `against` is the name and value of the baseline from the same run; the other four are its budgets."""
    bounds = (
        ("value", most, False),
        ("value", least, True),
        ("ratio", ratio_most, False),
        ("ratio", ratio_least, True),
    )
    measured = Figure(
        bench=Path(sys.argv[0]).stem,
        name=name,
        value=value,
        unit=unit,
        against=f"{against[0]}: {written(against[1], unit)}" if against else "",
        ratio=value / against[1] if against else None,
        budgets=[
            Budget(of=of, bound=bound, least=is_least) for of, bound, is_least in bounds if bound is not None
        ],
    )
    _found.append(measured)
    print("  ".join(filter(None, row(measured, {}))), flush=True)
    if file := os.environ.get(KEEP_IN):
        with Path(file).open("a") as target:
            target.write(json.dumps(asdict(measured)) + "\n")


def finish() -> int:
    """Return the exit code of a benchmark: 1 if a figure exceeds its budget, unless `python -m bench` runs it, which reports this itself."""
    return int(any(each.exceeded for each in _found) and KEEP_IN not in os.environ)


def read(file: Path) -> list[Figure]:
    """Return the figures that benchmarks stored."""
    return [_figure(json.loads(line)) for line in file.read_text().splitlines()]


def _figure(stored: dict[str, Any]) -> Figure:
    return Figure(**stored | {"budgets": [Budget(**each) for each in stored["budgets"]]})


def row(found: Figure, release: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """Return a figure as a row of the table; `release` has the figures of the last release by their keys."""
    before = release.get(found.key)
    return (
        found.key,
        written(found.value, found.unit),
        found.against,
        times(found.ratio),
        ", ".join(map(str, found.budgets)),
        f"{written(before['value'], found.unit)} {times(before.get('ratio'))}".strip() if before else "",
        "OVER" if found.exceeded else "",
    )


HEAD: Final = ("figure", "measured", "beside it in the same run", "ratio", "budget", "last release", "")


def table(figures: Sequence[Figure]) -> str:
    """Return a table of all figures, with their values at the last release."""
    stored = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"figures": {}}
    rows = [HEAD, *(row(each, stored["figures"]) for each in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(each, widths, strict=True)).rstrip()
        for each in rows
    )


def keep(figures: Sequence[Figure], release: str) -> None:
    """Write the figures to `baseline.json` as those of a release; figures of benchmarks that did not run are kept."""
    stored = json.loads(BASELINE.read_text())["figures"] if BASELINE.exists() else {}
    ran = {each.bench for each in figures}
    stored = {key: each for key, each in stored.items() if key.split(":")[0] not in ran}
    stored |= {each.key: _rounded(each) for each in figures}
    document = {
        "release": release,
        "machine": f"{os.cpu_count()}-core",
        "figures": dict(sorted(stored.items())),
    }
    BASELINE.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _rounded(found: Figure) -> dict[str, float]:
    value = {"value": float(f"{found.value:.3g}")}
    return value if found.ratio is None else value | {"ratio": float(f"{found.ratio:.3g}")}


def written(value: float, unit: str) -> str:
    """Format a value with three digits, or all digits before the point, and its unit."""
    return f"{value:,.0f} {unit}".strip() if abs(value) >= 100 else f"{value:.3g} {unit}".strip()


def times(ratio: float | None) -> str:
    """Format a ratio: `1.04 ×`."""
    return "" if ratio is None else f"{ratio:.3g} ×"
