"""The results of the crash tests by fault, printed as a table at the end of the run (`make crash`)."""

import os
from collections import Counter
from collections.abc import Mapping
from typing import Final

KILLS: Final = int(os.environ.get("CRASH_KILLS", "11"))
"""How many processes are killed in total; by default one at each point."""

COLUMNS: Final = (
    "times",
    "steps",
    "done",
    "failed",
    "results",
    "calls",
    "again",
    "marked",
    "lost",
)
HEADS: Final = {
    "again": "made again",
    "marked": "may be billed",
    "lost": "attempts lost",
    "results": "results written",
}
_SEEN: Final[dict[str, Counter[str]]] = {}
_REMARKS: Final[list[str]] = []


def remark(sentence: str) -> None:
    """Add a sentence about a fault that no replay met."""
    _REMARKS.append(sentence)


def note(fault: str, seen: Mapping[str, int], seconds: float) -> None:
    """Add the results of a fault: how many `times` it was injected, and `COLUMNS` of the steps that met it."""
    row = _SEEN.setdefault(fault, Counter())
    row.update(seen)
    row["milliseconds"] += round(seconds * 1000)


def table() -> list[str]:
    """Return the lines of the table with a total and the remarks; empty without results."""
    if not _SEEN:
        return _REMARKS
    width = max(map(len, _SEEN)) + 2
    heads = [HEADS.get(name, name) for name in COLUMNS]
    rows = {**_SEEN, "all": sum(_SEEN.values(), start=Counter[str]())}
    return [
        " " * width + "  ".join([*heads, "seconds"]),
        *(fault.ljust(width) + _line(row, heads) for fault, row in rows.items()),
        *_REMARKS,
    ]


def _line(row: Mapping[str, int], heads: list[str]) -> str:
    figures = [str(row.get(name, 0)).rjust(len(head)) for name, head in zip(COLUMNS, heads, strict=True)]
    return "  ".join([*figures, f"{row['milliseconds'] / 1000:7.1f}"])
