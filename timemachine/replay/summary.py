"""A replay in one sentence, and in counts. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

VERDICT_ORDER = (
    "identical",
    "formatting",
    "reworded",
    "equivalent",
    "adds",
    "omits",
    "numbers_differ",
    "names_differ",
    "polarity_differs",
    "changed",
    "contradicts",
    "refused",
    "newly_answered",
    "error",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What the steps of a replay came to, counted. Money in US dollars; `unknown` counts calls of unknown price."""

    kind: str
    status: str
    model: str | None
    statuses: Mapping[str, int]
    asked: int
    contexts: Mapping[str, int]
    verdicts: Mapping[str, int]
    retrievals: Mapping[str, int]
    cost_usd: Decimal
    unknown_cost_calls: int
    recorded_cost_usd: Decimal
    recorded_unknown_cost_calls: int
    uncertain_calls: int

    @property
    def total(self) -> int:
        """How many steps there are."""
        return sum(self.statuses.values())

    @property
    def finished(self) -> int:
        """How many steps are over, in whatever way."""
        return sum(self.statuses.get(name, 0) for name in ("done", "failed", "skipped", "cancelled"))


def words(name: str) -> str:
    """An enumerated value as people read it."""
    return name.replace("_", " ")


def sentence(tally: Tally) -> str:
    """The replay in one sentence: what was done, what came of it, what it cost beside what the recording cost."""
    parts = [_what(tally), _context(tally)]
    if tally.kind == "debug":
        parts.append(_counts("retrieval", tally.retrievals))
    if tally.asked:
        parts.append(_cost(tally))
    if tally.uncertain_calls:
        parts.append(f"{_plural(tally.uncertain_calls, 'lost attempt')} may have been billed")
    return "; ".join(part for part in parts if part)


def money(dollars: Decimal) -> str:
    """US dollars with as many digits as they need: $4.10, $0.0005, $0."""
    if dollars == 0:
        return "$0"
    written = f"{dollars:.{max(2, 1 - dollars.adjusted())}f}"
    whole, _, cents = written.partition(".")
    return f"${whole}.{cents.rstrip('0').ljust(2, '0')}"


def priced(dollars: Decimal, unknown: int) -> str:
    """A total beside the calls whose price is not known: "$4.10 + 3 calls of unknown price"."""
    if not unknown:
        return money(dollars)
    calls = f"{_plural(unknown, 'call')} of unknown price"
    return f"{money(dollars)} + {calls}" if dollars else calls


def _what(tally: Tally) -> str:
    if not tally.asked:
        done = f"{_plural(tally.finished, 'step')} of {tally.total} {'checked' if tally.kind == 'audit' else 'replayed'}"
        return f"{done}, no model called"
    model = f" with {tally.model}" if tally.model else ""
    ordered = {name: tally.verdicts[name] for name in VERDICT_ORDER if tally.verdicts.get(name)}
    verdicts = ", ".join(f"{count} {words(name)}" for name, count in ordered.items())
    return f"{_plural(tally.asked, 'ask')} replayed{model}: {verdicts}"


def _context(tally: Tally) -> str:
    total = sum(tally.contexts.values())
    if not total:
        return ""
    other = {name: count for name, count in tally.contexts.items() if name != "verified"}
    told = f"context verified {tally.contexts.get('verified', 0)} of {total}"
    worse = ", ".join(f"{count} {words(name)}" for name, count in sorted(other.items()))
    return f"{told} ({worse})" if worse else told


def _counts(title: str, counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    return f"{title} " + ", ".join(
        f"{counts[name]} {name}" for name in ("same", "reordered", "changed") if name in counts
    )


def _cost(tally: Tally) -> str:
    now = priced(tally.cost_usd, tally.unknown_cost_calls)
    then = priced(tally.recorded_cost_usd, tally.recorded_unknown_cost_calls)
    return f"{now} (recorded {then})"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def counted(values: Mapping[Any, int] | Counter[Any]) -> dict[str, int]:
    """Counts by name, what was not decided left out."""
    return {str(name): count for name, count in values.items() if name is not None}
