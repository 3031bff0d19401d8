"""A replay in one sentence, and in counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final

from timemachine.core.pure.model_steps import ModelSteps
from timemachine.core.pure.numbers import counted, money, spaced, total_cost
from timemachine.core.pure.schemas import Schema
from timemachine.core.pure.verdicts import CALLS_IN_TEXT, listed_times
from timemachine.recording.model_calls.pure.requests import TOOLS
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.options import CONTINUE
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES
from timemachine.replay.runs.pure.verdict_words import instead

UNVERIFIABLE: Final[Mapping[str, str]] = {
    "not_recorded": "without a recorded context",
    "reconstructed": "whose request was not recorded but assembled from the steps before",
}
"""Contexts that hold nothing to compare with what was recorded."""


class FirstDivergence(Schema):
    """The first replayed step in which the replay does something else than the recording, and its verdict, also `in_words`.

    `earlier_unanswered` counts the recorded steps of its kind before it that have no answer in the replay. Unless it is 0,
    one of them may be the first that differs.
    """

    sequence: int
    verdict: str
    in_words: str
    earlier_unanswered: int = 0


class FrequentError(Schema):
    """The most frequent error: how its message begins, and how many steps failed with it."""

    message: str
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTotals:
    """The results of some steps, counted by status and by verdict. Money is US dollars, next to the calls of unknown price.

    `failure` is the most frequent one.
    """

    statuses: Mapping[str, int] = field(default_factory=dict)
    contexts: Mapping[str, int] = field(default_factory=dict)
    verdicts: Mapping[str, int] = field(default_factory=dict)
    retrievals: Mapping[str, int] = field(default_factory=dict)
    cost_usd: Decimal = Decimal(0)
    unknown_cost_calls: int = 0
    uncertain_calls: int = 0
    failure: FrequentError | None = None

    @property
    def total(self) -> int:
        return sum(self.statuses.values())

    @property
    def finished(self) -> int:
        """Return the number of finished steps, with any result."""
        return sum(self.statuses.get(name, 0) for name in TERMINAL_STEP_STATUSES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally(StepTotals):
    """The results of a replay's steps, counted.

    `cut_off` counts the steps whose recorded or new answer is cut off, `low_grounding` those whose new answer has LOW grounding.
    Among the answers whose numbers differ, `opposite` also say the opposite and `shortened` only leave numbers out. `spend_limit_usd` is the replay's own
    limit, None if it has none or shares one. `asked` counts the asks and model calls that were made again, `sent` the
    model calls among them. The recorded cost is that of the `called`: these, and those whose call was cancelled. `waiting` counts the calls whose model is busy; the last of
    them is tried again at `waits_until`. `ending` is how a continuation ended.
    `recorded_in_whole` counts the called whose cost the recording states with that of the session (`recorded_whole_usd`) only.
    `absent` counts the requests that were sent without what was not recorded, by what that is; in `inferred` of them, tools
    had definitions that the recorded calls show. `in_text` counts those of agents that write their calls into their text.
    """

    kind: str
    status: str
    model: str | None
    asked: int
    recorded_cost_usd: Decimal
    recorded_unknown_cost_calls: int
    recorded_in_whole: int = 0
    recorded_whole_usd: Decimal | None = None
    sent: int = 0
    called: int = 0
    cut_off: int = 0
    low_grounding: int = 0
    opposite: int = 0
    shortened: int = 0
    spend_limit_usd: Decimal | None = None
    waiting: int = 0
    waits_until: datetime | None = None
    ending: Ending | None = None
    diverged: FirstDivergence | None = None
    absent: Mapping[str, int] = field(default_factory=dict)
    inferred: int = 0
    in_text: int = 0

    @property
    def over_limit_usd(self) -> Decimal | None:
        """Return by how much the replay exceeded its own spend limit; None if it has none."""
        return None if self.spend_limit_usd is None else max(self.cost_usd - self.spend_limit_usd, Decimal(0))

    @property
    def recorded_cost_in_words(self) -> str:
        """Return the recorded cost of the called steps, with that of the whole session if the recording states no other."""
        whole = self.recorded_whole_usd
        if not self.recorded_in_whole or whole is None:
            return total_cost(self.recorded_cost_usd, self.recorded_unknown_cost_calls)
        only_whole = f"only for the whole session, {money(whole)}"
        if self.recorded_in_whole == self.called:
            return only_whole
        rest = total_cost(self.recorded_cost_usd, self.recorded_unknown_cost_calls - self.recorded_in_whole)
        return f"{rest}, and of {counted(self.recorded_in_whole, 'call')} {only_whole}"

    @property
    def verdicts_in_words(self) -> str:
        """Return the count of each verdict, for example `9 identical, 2 reworded`; empty without verdicts."""
        return listed_times(self.verdicts, opposite=self.opposite, shortened=self.shortened)

    @property
    def result_in_words(self) -> str:
        """Return the verdicts; without any, how many contexts were verified: `context verified 0 of 11`."""
        return self.verdicts_in_words or _context(self)

    @property
    def is_unverified(self) -> bool:
        """Return whether this is an audit that could verify nothing."""
        return bool(_unverified(self))

    @property
    def can_retry(self) -> bool:
        return bool(self.statuses.get("failed") or self.statuses.get("cancelled"))


def sentence(tally: Tally) -> str:
    """Return the replay in one sentence: the finding, then the details."""
    return "; ".join(filter(None, (finding(tally), details(tally))))


def finding(tally: Tally) -> str:
    """Return what was done, the verdicts, how many new answers have LOW grounding, and where the runs first differ."""
    if tally.kind == CONTINUE:
        model = f" with {tally.model}" if tally.model else ""
        return f"Continued{model}" if tally.ending is None else tally.ending.finding
    low = f"LOW grounding in {counted(tally.low_grounding, 'answer')}" if tally.low_grounding else ""
    return _unverified(tally) or "; ".join(filter(None, (_what(tally), low, _first_difference(tally))))


def details(tally: Tally) -> str:
    """Return what else is reported: whether contexts were verified, the cost next to the recorded cost, what failed."""
    parts = _of_continuation(tally) if tally.kind == CONTINUE else _of_steps(tally)
    return "; ".join(filter(None, parts))


def _of_steps(tally: Tally) -> list[str]:
    parts = [] if _unverified(tally) else [_context(tally), _absent(tally)]
    if tally.kind != "audit":
        parts.append(_counts("retrieval", tally.retrievals))
    if tally.cut_off:
        parts.append(f"{counted(tally.cut_off, 'step')} with an answer that is cut off")
    if tally.statuses.get("cancelled"):
        parts.append(f"{counted(tally.statuses['cancelled'], 'step')} cancelled")
    if tally.statuses.get("skipped"):
        parts.append(f"{counted(tally.statuses['skipped'], 'step')} not asked because of the spend limit")
    if tally.asked or _was_billed(tally):
        parts.append(_cost(tally))
    if tally.over_limit_usd and tally.spend_limit_usd is not None:
        parts.append(
            f"the spend limit of {money(tally.spend_limit_usd)} was exceeded by {money(tally.over_limit_usd)}"
        )
    if tally.uncertain_calls:
        parts.append(f"{counted(tally.uncertain_calls, 'lost attempt')} may have been billed")
    parts.append(most_failed(tally.failure, tally.statuses.get("failed", 0)))
    return parts


def _of_continuation(tally: Tally) -> list[str]:
    parts = [_context(tally), _absent(tally)]
    if tally.statuses.get("cancelled"):
        parts.append("cancelled")
    if tally.asked or _was_billed(tally):
        parts.append(total_cost(tally.cost_usd, tally.unknown_cost_calls))
    if tally.uncertain_calls:
        parts.append(f"{counted(tally.uncertain_calls, 'lost attempt')} may have been billed")
    if tally.ending is None:  # else it says why
        parts.append(most_failed(tally.failure, tally.statuses.get("failed", 0)))
    return parts


def most_failed(failure: FrequentError | None, failed: int) -> str:
    """Return `most frequent error (7 of 8): …`, or `error: …` if there is only one; empty without errors."""
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
    steps = ModelSteps(asks=tally.asked - tally.sent, model_calls=tally.sent)
    return f"{steps.words} replayed{model}: {tally.verdicts_in_words}"


def _first_difference(tally: Tally) -> str:
    """Return where a replay of model calls first differs; empty for asks, which do not depend on each other."""
    if tally.diverged is None or not tally.sent:
        return ""
    step = f"step {tally.diverged.sequence:,}, where the model {instead(tally.diverged.verdict)}"
    if tally.diverged.earlier_unanswered:
        return f"the first replayed step that differs is {step}"
    return f"the runs first diverge at {step}"


def _unverified(tally: Tally) -> str:
    """Return why an audit without a model verified nothing, as nothing was recorded to verify; empty if it did."""
    if tally.kind != "audit" or tally.asked or not tally.contexts:
        return ""
    if tally.contexts.keys() - UNVERIFIABLE.keys():
        return ""
    why = [f"{counted(count, 'step')} {UNVERIFIABLE[name]}" for name, count in sorted(tally.contexts.items())]
    return f"nothing could be verified: {', '.join(why)}; no model called"


def _was_billed(tally: Tally) -> bool:
    return bool(tally.cost_usd or tally.unknown_cost_calls)


def _context(tally: Tally) -> str:
    total = sum(tally.contexts.values())
    if not total:
        return ""
    other = {name: count for name, count in tally.contexts.items() if name != "verified"}
    verified = f"context verified {tally.contexts.get('verified', 0):,} of {total:,}"
    worse = ", ".join(f"{count:,} {spaced(name)}" for name, count in sorted(other.items()))
    return f"{verified} ({worse})" if worse else verified


def _absent(tally: Tally) -> str:
    """Return what the sent requests lack because it was not recorded; empty if they lack nothing."""
    lacking = {
        name: number for name, number in tally.absent.items() if name != TOOLS or number > tally.inferred
    }
    parts = []
    if lacking:
        often = max(lacking.values())
        where = "" if often == tally.sent else f" in {counted(often, 'request')}"
        parts.append(f"sent without what was not recorded{where}: {', '.join(lacking)}")
    if tally.inferred:
        parts.append(
            "tools offered as the recorded calls show them, because their definitions were not recorded"
        )
    if tally.in_text:
        parts.append(CALLS_IN_TEXT)
    return "; ".join(parts)


def _counts(title: str, counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    return f"{title} " + ", ".join(
        f"{counts[name]:,} {name}" for name in ("same", "reordered", "changed") if name in counts
    )


def _cost(tally: Tally) -> str:
    now = total_cost(tally.cost_usd, tally.unknown_cost_calls)
    return f"{now} (recorded {tally.recorded_cost_in_words})" if tally.called else now
