"""A replay in one sentence, and in counts. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from timemachine.core.pure.numbers import counted, money, spaced, times, total_cost
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES

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
    "not_recorded",
    "error",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What steps failed of most often, and how many of them; `message` is how it begins."""

    message: str
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What the steps of a replay came to, counted. Money in US dollars; `unknown` counts calls of unknown price.

    `cut_off` counts the steps with an answer, recorded or new, that ends where it was cut off. `spend_limit_usd` is its own, None
    where it has none or shares one. The recorded cost is that of `called` asks: those that were asked again, and those whose call
    was cancelled. `failure` is the most frequent one. `waiting` counts the calls whose model is busy; the last is asked again at `waits_until`.
    """

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
    called: int = 0
    failure: Failure | None = None
    cut_off: int = 0
    spend_limit_usd: Decimal | None = None
    waiting: int = 0
    waits_until: datetime | None = None

    @property
    def over_limit_usd(self) -> Decimal | None:
        """By how much its spend limit was passed; None where it has none of its own."""
        return None if self.spend_limit_usd is None else max(self.cost_usd - self.spend_limit_usd, Decimal(0))

    @property
    def verdicts_in_words(self) -> str:
        """How often which verdict was reached: `9 identical, 2 reworded`; empty where none was."""
        ordered = {name: self.verdicts[name] for name in VERDICT_ORDER if self.verdicts.get(name)}
        return ", ".join(times(count, name) for name, count in ordered.items())

    @property
    def total(self) -> int:
        """How many steps there are."""
        return sum(self.statuses.values())

    @property
    def finished(self) -> int:
        """How many steps are over, in whatever way."""
        return sum(self.statuses.get(name, 0) for name in TERMINAL_STEP_STATUSES)

    @property
    def may_be_tried_again(self) -> bool:
        """Whether any step failed or was cancelled."""
        return bool(self.statuses.get("failed") or self.statuses.get("cancelled"))


def sentence(tally: Tally) -> str:
    """The replay in one sentence: what was done, what came of it, what it cost beside what the recording cost."""
    parts = [_what(tally), _context(tally)]
    if tally.kind != "audit":
        parts.append(_counts("retrieval", tally.retrievals))
    if tally.cut_off:
        parts.append(f"{counted(tally.cut_off, 'step')} with an answer that is cut off")
    if tally.statuses.get("cancelled"):
        parts.append(f"{counted(tally.statuses['cancelled'], 'step')} cancelled")
    if tally.statuses.get("skipped"):
        parts.append(f"{counted(tally.statuses['skipped'], 'step')} not asked for the spend limit")
    if tally.asked or _was_billed(tally):
        parts.append(_cost(tally))
    if tally.over_limit_usd and tally.spend_limit_usd is not None:
        parts.append(
            f"the spend limit of {money(tally.spend_limit_usd)} was passed by {money(tally.over_limit_usd)}"
        )
    if tally.uncertain_calls:
        parts.append(f"{counted(tally.uncertain_calls, 'lost attempt')} may have been billed")
    parts.append(most_failed(tally.failure, tally.statuses.get("failed", 0)))
    return "; ".join(part for part in parts if part)


def most_failed(failure: Failure | None, failed: int) -> str:
    """`most frequent error (7 of 8): …`, or the only one; empty where there is none."""
    if failure is None:
        return ""
    often = f"most frequent error ({failure.steps:,} of {failed:,})" if failed > 1 else "error"
    return f"{often}: {failure.message}"


def _what(tally: Tally) -> str:
    if not tally.asked:
        looked_at = sum(tally.statuses.get(name, 0) for name in ("done", "failed"))
        done = f"{counted(looked_at, 'step')} of {tally.total:,} {'checked' if tally.kind == 'audit' else 'replayed'}"
        return done if _was_billed(tally) or tally.uncertain_calls else f"{done}, no model called"
    model = f" with {tally.model}" if tally.model else ""
    return f"{counted(tally.asked, 'ask')} replayed{model}: {tally.verdicts_in_words}"


def _was_billed(tally: Tally) -> bool:
    return bool(tally.cost_usd or tally.unknown_cost_calls)


def _context(tally: Tally) -> str:
    total = sum(tally.contexts.values())
    if not total:
        return ""
    other = {name: count for name, count in tally.contexts.items() if name != "verified"}
    told = f"context verified {tally.contexts.get('verified', 0):,} of {total:,}"
    worse = ", ".join(f"{count:,} {spaced(name)}" for name, count in sorted(other.items()))
    return f"{told} ({worse})" if worse else told


def _counts(title: str, counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    return f"{title} " + ", ".join(
        f"{counts[name]:,} {name}" for name in ("same", "reordered", "changed") if name in counts
    )


def _cost(tally: Tally) -> str:
    now = total_cost(tally.cost_usd, tally.unknown_cost_calls)
    then = total_cost(tally.recorded_cost_usd, tally.recorded_unknown_cost_calls)
    return f"{now} (recorded {then})" if tally.called else now
