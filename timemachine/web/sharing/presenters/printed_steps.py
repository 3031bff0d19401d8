"""The steps of a shared session, replay or comparison in full, for printing.

Browsers lay out a print in one piece, so a long one consists of parts. The server renders a few steps at a time, so that memory
stays bounded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import batched
from typing import Final
from uuid import UUID

from django.template.loader import get_template

from timemachine.governance.sharing.models import COMPARISON, REPLAY
from timemachine.governance.sharing.pure.token import link_not_valid
from timemachine.governance.sharing.read_models.replays import SharedReplayStep
from timemachine.governance.sharing.read_models.steps import SharedStep
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.timeline.pieces import StepRange
from timemachine.recording.timeline.step import Head
from timemachine.web.comparisons.presenters.matrix import column_names
from timemachine.web.payloads.pure.shapes import leaves
from timemachine.web.sessions.presenters.step_tabs import kind_facts
from timemachine.web.sessions.presenters.supporting_passages import source_of, supported_answer
from timemachine.web.sharing.presenters.shared_pages import PRINTED_BYTES, UrlState, both_sides

STATE: Final = UrlState(tab="context", more=True, printed=True)
STEPS_IN_PART: Final = 300
"""About 120 pages, which a browser lays out in seconds."""
PARTS_IN_GROUP: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a print, the `number`th from 1, of `total` steps or answers."""

    number: int
    total: int
    unit: str = "steps"

    @property
    def parts(self) -> int:
        return max(1, -(-self.total // STEPS_IN_PART))

    @property
    def first(self) -> int:
        return (self.number - 1) * STEPS_IN_PART + 1

    @property
    def last(self) -> int:
        return min(self.number * STEPS_IN_PART, self.total)

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.parts else None

    @property
    def groups(self) -> "list[list[Part]]":
        """Return all parts of the print in order, in groups that a list can fold."""
        every = [replace(self, number=number) for number in range(1, self.parts + 1)]
        return [list(group) for group in batched(every, PARTS_IN_GROUP)]

    @property
    def places(self) -> slice:
        """Return the places, from 0, of what belongs to this part."""
        return slice(self.first - 1, self.last)


def part_of(scope: Scope, number: int) -> Part:
    """Return a part of the print of what a link shows. Raises `NotFound` if it has no part of this number."""
    if scope.link.target_type == REPLAY:
        found = Part(number=number, total=scope.count_replayed(), unit="replayed steps")
    elif scope.link.target_type == COMPARISON:
        found = Part(number=number, total=scope.comparison().count_cells(), unit="answers")
    else:
        found = Part(number=number, total=scope.link.through_sequence or 0)
    if not 1 <= number <= found.parts:
        raise link_not_valid()
    return found


def printed(scope: Scope, part: Part, facts: Mapping[str, object]) -> Iterator[str]:
    """Yield the steps of a part as HTML. `facts` is the context of the page."""
    if scope.link.target_type == REPLAY:
        yield from _of_replay(scope, part, facts)
    elif scope.link.target_type == COMPARISON:
        yield from _of_comparison(scope, part, facts)
    else:
        yield from _of_session(scope, part, facts)


def _of_session(scope: Scope, part: Part, facts: Mapping[str, object]) -> Iterator[str]:
    template = get_template("shares/print_step.html")
    for steps in scope.steps_in_full(StepRange(first=part.first, last=part.last), PRINTED_BYTES):
        shared = {
            **facts,
            "asked": STATE,
            "here": {},
            "erased_fields": scope.erased_fields(steps),
        }
        deletions = scope.deletions(steps)
        yield "".join(
            template.render({**shared, **_step(each), "deletion": deletions.get(each.action.sequence)})
            for each in steps
        )


def _step(step: SharedStep) -> dict[str, object]:
    sources = [source_of(each) for each in step.passages]
    return {
        "found": replace(step, source=None),
        "source": step.source,
        "action": step.action,
        "origin": step.origin,
        "input_parts": _parts(step.input),
        "output_parts": _parts(step.output),
        **supported_answer(step.output, step.action.grounding, sources),
        **kind_facts(step.action),
    }


def _parts(head: Head | None) -> list[tuple[str, str]] | None:
    return None if head is None or head.cut else leaves(head.media_type, head.text)


def _of_replay(scope: Scope, part: Part, facts: Mapping[str, object]) -> Iterator[str]:
    for sequences in scope.replayed_sequences(part.places):
        steps, contexts = scope.replay_steps_in_full(sequences), scope.context_steps(sequences)
        requests = scope.replayed_requests([each.id for each in steps])
        erased = scope.erased_fields([found for each in contexts.values() for found in each])
        yield "".join(
            _replayed(
                each,
                both_sides(scope, each, contexts[each.sequence], requests.get(each.id), erased, STATE),
                {**facts, "title": f"Step {each.sequence:,}"},
            )
            for each in steps
        )


def _of_comparison(scope: Scope, part: Part, facts: Mapping[str, object]) -> Iterator[str]:
    """Yield the answers; the passages stand with the first answer of the part to each recorded step."""
    comparison = scope.comparison()
    names = column_names(comparison.about().arms)
    printed_before: set[tuple[UUID, int]] = set()
    for step_ids in comparison.cell_ids(part.places):
        cells = comparison.cells(step_ids)
        contexts, requests = comparison.contexts(cells), scope.replayed_requests(step_ids)
        erased = {
            session: scope.erased_fields(
                [each for at, steps in contexts.items() if at[0] == session for each in steps]
            )
            for session in {session for session, _ in contexts}
        }
        answers = []
        for cell in cells:
            here = cell.step.session, cell.step.sequence
            shown = [] if here in printed_before else contexts[here]
            printed_before.add(here)
            sides = both_sides(
                scope, cell.step, shown, requests.get(cell.step.id), erased[cell.step.session], STATE
            )
            named = {"title": f"Step {cell.step.sequence:,}", "column": names[cell.arm], "cell": cell}
            answers.append(_replayed(cell.step, sides, {**facts, **named}))
        yield "".join(answers)


def _replayed(step: SharedReplayStep, sides: Mapping[str, object], facts: Mapping[str, object]) -> str:
    return get_template("shares/print_replayed.html").render({**facts, **sides, "side": f"s{step.id}-"})
