"""What the crash lab saw, fault by fault: a table at the end of the run (`make crash`)."""

import os
from collections import Counter
from collections.abc import Mapping
from typing import Final

KILLS: Final = int(os.environ.get("CRASH_KILLS", "11"))
"""How many processes are killed in all; where it is not set, one at each point."""

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
_TOLD: Final[list[str]] = []


def tell(sentence: str) -> None:
    """Add what was seen of a fault that no replay met."""
    _TOLD.append(sentence)


def note(fault: str, seen: Mapping[str, int], seconds: float) -> None:
    """Add what a fault led to: how many `times` it was injected, and `COLUMNS` of the steps that met it."""
    row = _SEEN.setdefault(fault, Counter())
    row.update(seen)
    row["milliseconds"] += round(seconds * 1000)


def table() -> list[str]:
    """The lines of the table, with a sum, and what was told beside it; none where nothing was noted."""
    if not _SEEN:
        return _TOLD
    width = max(map(len, _SEEN)) + 2
    heads = [HEADS.get(name, name) for name in COLUMNS]
    rows = {**_SEEN, "all": sum(_SEEN.values(), start=Counter[str]())}
    return [
        " " * width + "  ".join([*heads, "seconds"]),
        *(fault.ljust(width) + _line(row, heads) for fault, row in rows.items()),
        *_TOLD,
    ]


def _line(row: Mapping[str, int], heads: list[str]) -> str:
    figures = [str(row.get(name, 0)).rjust(len(head)) for name, head in zip(COLUMNS, heads, strict=True)]
    return "  ".join([*figures, f"{row['milliseconds'] / 1000:7.1f}"])
