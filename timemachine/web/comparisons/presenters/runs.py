"""Two aligned runs: a page of pairs, the filters with their counts, and the URLs of steps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.urls import reverse

from timemachine.replay.alignment.details import StepDetail
from timemachine.replay.alignment.long_diffs import long_rows
from timemachine.replay.alignment.queries import SHOWS, Aligned, Show, Side
from timemachine.replay.alignment.runs import Run, RunStep
from timemachine.text.pure.difference.sessions import StepPair
from timemachine.web.differences import Differing, differing, made
from timemachine.web.sessions.presenters.steps import payload_words

PAGE: Final = 60
WORDS: Final[dict[Show, str]] = {
    "all": "All",
    "changed": "Changed",
    "modified": "Modified",
    "moved": "Moved",
    "only_left": "Only left",
    "only_right": "Only right",
    "not_asked": "Not asked",
    "same": "Same",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """A step in a list: its recorded facts and its URL."""

    step: RunStep
    address: str

    @property
    def label(self) -> str:
        """Return its label, as in the timeline."""
        return self.step.label

    @property
    def tool(self) -> str | None:
        return self.step.facts.tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPair:
    """A pair in the list; `left` or `right` is None if that run has no such step."""

    place: int
    pair: StepPair
    left: ShownStep | None
    right: ShownStep | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A filter: its name, its label, its number of pairs, and whether it is active."""

    show: Show
    words: str
    number: int
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsPage:
    """A page of pairs; `earlier` and `later` are the cursors of the neighbouring pages, None at an end."""

    pairs: Sequence[ShownPair]
    first: int
    last: int
    of: int
    earlier: int | None
    later: int | None


def pairs_page(found: Aligned, show: Show, at: int) -> PairsPage:
    """Return the pairs that match a filter, starting at the position `at` of the alignment."""
    places = found.shown(show)
    start = next((index for index, place in enumerate(places) if place >= at), max(len(places) - PAGE, 0))
    shown = places[start : start + PAGE]
    return PairsPage(
        pairs=[_shown(found, place) for place in shown],
        first=start + 1,
        last=start + len(shown),
        of=len(places),
        earlier=places[max(start - PAGE, 0)] if start else None,
        later=places[start + PAGE] if start + PAGE < len(places) else None,
    )


def chips(found: Aligned, chosen: Show) -> Iterator[Chip]:
    """Return every non-empty filter, and the active one."""
    counts = found.counts
    numbers = {"all": len(found.pairs), "changed": len(found.shown("changed")), **counts}
    for show in SHOWS:
        if numbers[show] or show in {"all", chosen}:
            yield Chip(show=show, words=WORDS[show], number=numbers[show], on=show == chosen)


def step_address(run: Run, sequence: int) -> str:
    """Return the URL of a step of a run."""
    if run.replay is not None:
        return reverse("replay_step", args=[run.replay.id, sequence])
    return reverse("timeline", args=[run.session.id], query={"step": sequence})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownValue:
    """One value of a step with its title, and how the two sides differ; `long` is a diff made by a worker, None for others."""

    title: str
    found: Differing
    long: UUID | None = None


def shown_values(
    left: StepDetail, right: StepDetail, *, everything: bool, start: int
) -> Iterator[ShownValue]:
    """Return the outputs, errors and inputs of the two steps, without those that neither has."""
    words = payload_words(left.kind)
    for value, title in (("output", words["output"]), ("error", "Error"), ("input", words["input"])):
        one, other = getattr(left, value), getattr(right, value)
        if one is None and other is None:
            continue
        found = differing(one, other, everything=everything, start=start)
        if found is None:
            rows = long_rows(left, right, value)
            yield ShownValue(title=title, found=made(rows, start), long=rows.id)
        else:
            yield ShownValue(title=title, found=found)


def _shown(found: Aligned, place: int) -> ShownPair:
    pair = found.pairs[place]
    return ShownPair(
        place=place,
        pair=pair,
        left=_step(found.left, pair.left.sequence) if pair.left else None,
        right=_step(found.right, pair.right.sequence) if pair.right else None,
    )


def _step(side: Side, sequence: int) -> ShownStep:
    return ShownStep(step=side.steps[sequence], address=step_address(side.run, sequence))
