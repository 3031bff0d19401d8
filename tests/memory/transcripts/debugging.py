"""A debugging session of any length: an error, hypotheses and looks at files, and the few turns with decisions and the solution."""

from collections.abc import Iterator
from typing import Any

FIVE = (
    (
        "user",
        "Production answers 500 since the deploy of 14:02; the log says that the connection pool is exhausted.",
        "error",
    ),
    ("agent", "Perhaps slow queries hold the connections for too long.", "hypothesis"),
    (
        "agent",
        "The log of slow queries is empty since Monday, so it is not that. I look at who opens connections.",
        "normal",
    ),
    (
        "agent",
        "The root cause is the new worker: it opens a connection for each job and never closes it.",
        "breakthrough",
    ),
    (
        "agent",
        "Close the connection when the job ends, and hold the pool at 20. Deployed; no 500 for an hour.",
        "solution",
    ),
)
SIGNIFICANT_TURNS = {
    1: ("user", "The nightly import fails since Tuesday with a unique violation on invoices.", "error"),
    40: ("agent", "We decided to stop reading the parser and to compare two exports line by line instead.", "decision"),
    77: ("agent", "Decision: keep the old numbering until the suppliers have answered.", "decision"),
    121: ("agent", "The root cause is that two suppliers reuse invoice numbers across years.", "breakthrough"),
    149: ("agent", "The key is now supplier, year and number; last night's import went through with 0 violations.", "solution"),
}  # fmt: skip
LENGTH = 150


def turns(length: int = LENGTH) -> Iterator[dict[str, Any]]:
    """Return this many turns. Those in `SIGNIFICANT_TURNS` matter, and every tenth of the others is a hypothesis."""
    for number in range(1, length + 1):
        role, text, significance = SIGNIFICANT_TURNS.get(number) or _filler(number)
        yield {"kind": "message", "role": role, "output": text, "significance": significance}


def _filler(number: int) -> tuple[str, str, str]:
    if number % 10 == 0:
        return (
            "agent",
            f"Perhaps file {number} was written twice; I compare its checksum with yesterday's.",
            "hypothesis",
        )
    if number % 4 == 0:
        return "user", f"Please look at batch {number}, too: it came late that night.", "normal"
    return (
        "agent",
        f"Batch {number} has {number * 37} rows, none of them twice, and the dates of its invoices are plausible.",
        "normal",
    )
