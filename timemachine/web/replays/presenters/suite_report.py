"""The changes in a run of a suite: the steps, and both sides with their verdicts and links."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.http import QueryDict
from django.urls import reverse

from timemachine.core.pure.numbers import money_or_unknown, spaced, whole_number
from timemachine.core.pure.verdicts import VERDICTS
from timemachine.replay.suites.models import SuiteRun
from timemachine.replay.suites.pure.changes import CHANGES, UNCHANGED, StepChange, StepFact, counted_change
from timemachine.replay.suites.queries import RunCounts
from timemachine.replay.suites.reports import counted_changes, report_page
from timemachine.web import formatting
from timemachine.web.template_library import register

SHOWN: Final = 50
MOST: Final = 2**31 - 1
CHANGED: Final = "changed"
COMPARED: Final = ("worse", "better", "other_verdict", "answer_differs", "passages_differ")
BAR, GAP, HEIGHT = 8, 3, 20
_ORDER: Final = (*VERDICTS, "same", "reordered", "verified", "altered", "missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A step in one of the two runs: its result and its URL."""

    verdicts: Sequence[tuple[str, str]]
    address: str
    cost: str
    took: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """A step next to the same step of the previous run; `difference` is the URL of the two answers side by side."""

    change: str
    step: StepFact
    session: str
    before: Side | None
    after: Side | None
    difference: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A page of the steps of a run with one kind of change."""

    rows: Sequence[ShownStep]
    chips: Sequence[tuple[str, int]]
    wanted: str
    later: bool
    next: str | None


def report(run: SuiteRun, names: Mapping[str, str], parameters: QueryDict) -> Report:
    """Return the steps that the URL requests (`change`, `at`); by default the changed ones, most serious first, or all if none changed."""
    counts = counted_changes(run)
    changed = sum(number for change, number in counts.items() if change not in UNCHANGED)
    kind = parameters.get("change", "")
    if kind not in {CHANGED, "all", *counts}:
        kind = CHANGED if changed else "all"
    after = _place(parameters.get("at", ""))
    found = report_page(run, kinds=_kinds(kind), after=after, limit=SHOWN, gravest_first=kind == CHANGED)
    return Report(
        rows=[_shown(each, names) for each in found.steps],
        chips=[(CHANGED, changed), *((name, counts[name]) for name in CHANGES if counts.get(name))],
        wanted=kind,
        later=after != (0, 0),
        next=found.next and f"{found.next[0]}.{found.next[1]}",
    )


@register.filter
def changes_since(number: int, change: str) -> str:
    """Return a number of steps with a kind of change, in words."""
    return counted_change(change, number)


def _kinds(chosen: str) -> list[str] | None:
    if chosen == "all":
        return None
    return [each for each in CHANGES if each not in UNCHANGED] if chosen == CHANGED else [chosen]


def _place(written: str) -> tuple[int, int]:
    """Return the page cursor in the URL; the beginning without one."""
    gravity, place = (whole_number(each) for each in written.partition(".")[::2])
    return (0, 0) if gravity is None or place is None else (min(gravity, MOST), min(place, MOST))


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
        took="" if fact.took_ms is None else formatting.duration(fact.took_ms),
    )


def _verdicts(fact: StepFact) -> Iterator[tuple[str, str]]:
    """Return the verdicts by name, each in words; without verdicts the step's status."""
    if fact.verdict:
        yield fact.verdict, fact.in_words or ""
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
    return reverse("compare_steps", query=sides)


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
    oldest_first = [(run.number, _counted_verdicts(counts[run.id])) for run in reversed(runs)]
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
        for verdict in sorted(seen, key=lambda each: _ORDER.index(each) if each in _ORDER else len(_ORDER))
    ]


def _counted_verdicts(counts: RunCounts) -> Mapping[str, int]:
    """Return the verdicts of answers; without answers those of retrieval, and without these those of contexts."""
    return counts.verdicts or counts.retrievals or counts.contexts


def _bar(place: int, run: int, number: int, most: int) -> Bar:
    height = round(max(HEIGHT * number / most, 1 if number else 0), 1)
    return Bar(run=run, number=number, x=place * (BAR + GAP), y=HEIGHT - height, height=height)
