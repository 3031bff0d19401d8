"""What a run of a suite changed, as its page shows it: which steps, and each side with its verdicts and the way to it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from timemachine.base.numbers import whole_number
from timemachine.base.wording import money_or_unknown, spaced
from timemachine.suites.changes import CHANGES, UNCHANGED, StepChange, StepFact, counted_change
from timemachine.web import wording
from timemachine.web.library import register

SHOWN: Final = 50
CHANGED: Final = "changed"
COMPARED: Final = ("worse", "better", "other_verdict", "answer_differs", "passages_differ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A step in one of the two runs: what it came to, and where it is shown."""

    verdicts: Sequence[tuple[str, str]]
    address: str
    cost: str
    took: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """A step beside the same step of the run before; `difference` is where the two answers stand side by side."""

    change: str
    step: StepFact
    session: str
    before: Side | None
    after: Side | None
    difference: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Some steps of a run: those of one kind of change, page by page."""

    rows: Sequence[ShownStep]
    chips: Sequence[tuple[str, int]]
    wanted: str
    start: int
    fitting: int
    next: int | None


def report(found: Sequence[StepChange], names: Mapping[str, str], asked: QueryDict) -> Report:
    """The steps that the address asks for (`change`, `at`); by default those that changed, the gravest first, or all where none did."""
    counts = Counter(each.change for each in found)
    changed = sum(number for change, number in counts.items() if change not in UNCHANGED)
    wanted = asked.get("change", "")
    if wanted not in {CHANGED, "all", *counts}:
        wanted = CHANGED if changed else "all"
    fitting = [each for each in found if _fits(each.change, wanted)]
    if wanted == CHANGED:
        fitting.sort(key=lambda each: CHANGES.index(each.change))
    start = whole_number(asked.get("at", "")) or 0
    end = start + SHOWN
    return Report(
        rows=[_shown(each, names) for each in fitting[start:end]],
        chips=[(CHANGED, changed), *((name, counts[name]) for name in CHANGES if counts[name])],
        wanted=wanted,
        start=start,
        fitting=len(fitting),
        next=end if len(fitting) > end else None,
    )


@register.filter
def changes_since(number: int, change: str) -> str:
    """So many steps of a kind of change."""
    return counted_change(change, number)


def _fits(change: str, wanted: str) -> bool:
    return wanted in {"all", change} or (wanted == CHANGED and change not in UNCHANGED)


def _shown(change: StepChange, names: Mapping[str, str]) -> ShownStep:
    step = change.step
    return ShownStep(
        change=change.change,
        step=step,
        session=names.get(str(step.session), ""),
        before=_side(change.before),
        after=_side(change.after),
        difference=_difference(change),
    )


def _side(fact: StepFact | None) -> Side | None:
    if fact is None:
        return None
    return Side(
        verdicts=list(_verdicts(fact)),
        address=reverse("replay_step", args=[fact.replay, fact.sequence]),
        cost="" if fact.model is None else money_or_unknown(fact.cost_usd),
        took="" if fact.took_ms is None else wording.duration(fact.took_ms),
    )


def _verdicts(fact: StepFact) -> Iterator[tuple[str, str]]:
    """The verdicts by their names, each in words; where there is none, how the step stands."""
    if fact.verdict:
        yield fact.verdict, spaced(fact.verdict)
    if fact.retrieval:
        yield fact.retrieval, f"passages {fact.retrieval}"
    if fact.context and (fact.context != "verified" or not (fact.verdict or fact.retrieval)):
        yield fact.context, f"context {spaced(fact.context)}"
    if not (fact.verdict or fact.retrieval or fact.context):
        yield fact.status, fact.status


def _difference(change: StepChange) -> str | None:
    if change.before is None or change.after is None or change.change not in COMPARED:
        return None
    sequence = change.step.sequence
    sides = {"a": change.before.replay, "b": change.after.replay, "left": sequence, "right": sequence}
    return f"{reverse('compare_steps')}?{urlencode(sides)}"
