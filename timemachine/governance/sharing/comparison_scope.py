"""What a link to a comparison shows: its asks and model calls with the answers and remarks from before the link."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from timemachine.core.pure.model_steps import ModelSteps
from timemachine.governance.sharing.boundaries import actions_within, counted_steps, steps_within
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.token import link_not_valid
from timemachine.governance.sharing.read_models.comparisons import (
    SharedCell,
    SharedComparison,
    SharedMark,
    SharedOpinion,
    SharedRemarks,
    SharedResults,
    shared_ask,
    shared_comparison,
    shared_group,
    shared_mark,
    shared_opinion,
)
from timemachine.governance.sharing.read_models.replays import shared_replay_steps
from timemachine.governance.sharing.read_models.steps import SharedStep
from timemachine.governance.sharing.recorded_steps import RecordedSteps, batches_by_size
from timemachine.governance.sharing.redactor import Redactor
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALLS
from timemachine.replay.comparison.groups import CallGroup, groups_in
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.comparison.partings import partings_in
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.findings import Findings, findings
from timemachine.replay.comparison.pure.metrics import column, column_totals
from timemachine.replay.comparison.pure.variants import RECORDING
from timemachine.replay.comparison.queries import annotated, marks_of, opinions_of
from timemachine.replay.comparison.recorded import RecordedAnswers, recorded_answers
from timemachine.replay.comparison.results import FEW, results_of
from timemachine.replay.runs.answer_lines import AnswerLines, answer_lines
from timemachine.replay.runs.models import ReplayHit, ReplayStep
from timemachine.replay.runs.queries import size_of_replay_step

LATER: Final = "answered later"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonScope:
    """One comparison. Anything outside its cells raises the same `NotFound`."""

    link: ShareLink
    comparison: Comparison

    def about(self) -> SharedComparison:
        """Return how it was made."""
        return shared_comparison(self.comparison, self._redactor())

    def results(self) -> SharedResults:
        """Return the asks with their answers and statistics."""
        if self.link.evidence_only:
            raise link_not_valid()
        results = results_of(self.comparison, progress_of([self.comparison])[self.comparison.id], so_far=True)
        if results.findings is None:
            return SharedResults(findings=None, state=results.state, due=results.due)
        shown = set(self._cells().values_list("id", flat=True))
        later = sum(cell.step not in shown for ask in results.findings.asks for cell in ask.runs.values())
        if not later:
            return SharedResults(
                findings=results.findings,
                state=results.state,
                due=results.due,
                groups=self._groups(),
                partings=partings_in(self._cells()),
                recorded=self._recorded(),
            )
        asks = [_without_later(ask, shown) for ask in results.findings.asks]
        paired = len(shown) <= FEW
        return SharedResults(
            findings=self._counted(asks, paired=paired),
            state="current",
            later=later,
            paired=paired,
            groups=self._groups(),
            partings=partings_in(self._cells()),
            recorded=self._recorded(),
        )

    def remarks(self, asks: Sequence[Ask]) -> SharedRemarks:
        """Return these asks with their questions and the remarks that are older than the link."""
        found = annotated(asks)
        return SharedRemarks(
            asks=self._asks(found.asks),
            marks={step: self._marks(marks) for step, marks in found.marks.items()},
            opinions={step: self._opinions(opinions) for step, opinions in found.opinions.items()},
            lines=self._lines(asks),
        )

    def count_cells(self) -> int:
        """Return the number of answers."""
        return self._cells().count()

    def cell_ids(self, within: slice) -> Iterator[list[int]]:
        """Yield the ids of some answers, those at these places in the order of the recorded steps and then of the models, as many
        at a time as are read together."""
        order = ("action__session_id", "sequence", "replay__run__arm", "id")
        return batches_by_size(
            self._cells().order_by(*order).values_list("id", size_of_replay_step())[within]
        )

    def cell(self, step_id: int) -> SharedCell:
        """Return one answer with the recorded one and the remarks about it."""
        return self.cells([step_id])[0]

    def cells(self, step_ids: Sequence[int]) -> list[SharedCell]:
        """Return some answers in this order, each with the recorded one and the remarks about it."""
        steps = self._steps(step_ids)
        marks, opinions = marks_of(step_ids), opinions_of(step_ids)
        return [
            SharedCell(
                step=shared,
                arm=step.replay.run.arm,
                marks=self._marks(marks.get(step.id, [])),
                opinions=self._opinions(opinions.get(step.id, [])),
            )
            for step, shared in zip(steps, shared_replay_steps(steps, self._redactor()), strict=True)
        ]

    def contexts(self, cells: Sequence[SharedCell]) -> dict[tuple[UUID, int], list[SharedStep]]:
        """Return the recorded steps with the passages of these answers' asks, by session and sequence; the queries of each
        session are always as many."""
        named = {(cell.step.session, cell.step.sequence) for cell in cells}
        found = {}
        for session in Session.objects.filter(id__in={session for session, _ in named}):
            actions = actions_within(self.link).filter(session=session)
            recorded = RecordedSteps(session=session, actions=actions, redactor=self._redactor())
            sequences = {sequence for of, sequence in named if of == session.id}
            for sequence, steps in recorded.context_steps(sequences).items():
                found[session.id, sequence] = steps
        return found

    def _steps(self, step_ids: Sequence[int]) -> list[ReplayStep]:
        hits = Prefetch("hits", ReplayHit.objects.select_related("payload").order_by("rank"))
        related = ("replay__run", "action__input", "action__output", "output")
        cells = self._cells().select_related(*related).prefetch_related(hits, "attempts")
        found = {
            each.id: each for each in cells.filter(id__in=[each for each in step_ids if 0 < each < 2**62])
        }
        if len(found) < len(step_ids):
            raise link_not_valid()
        return [found[each] for each in step_ids]

    def steps_compared(self) -> ModelSteps:
        """Return how many recorded asks and model calls were answered."""
        steps = counted_steps(self.link).filter(kind__in=MODEL_CALLS).order_by()
        return ModelSteps.of(kind for kind, _ in steps.values_list("kind", "action_id").distinct())

    def _counted(self, asks: Sequence[Ask], *, paired: bool) -> Findings:
        arms = len(self.comparison.arms)
        if paired:
            return findings(asks, arms, noise_floor=self.comparison.noise_floor)
        columns = [column_totals(asks, column(asks, each)) for each in range(RECORDING, arms + 1)]
        return Findings(asks=asks, columns=columns, ordered=[], noise=[])

    def _groups(self) -> list[CallGroup]:
        redactor = self._redactor()
        return [shared_group(each, redactor) for each in groups_in(self._cells())]

    def _recorded(self) -> RecordedAnswers:
        redactor = self._redactor()
        found = recorded_answers(self._cells(), until=self.link.created_at)
        return replace(found, models=[redactor.document({"model": each})["model"] for each in found.models])

    def _asks(self, asks: Sequence[Ask]) -> list[Ask]:
        redactor = self._redactor()
        if redactor.rules is None:
            return [shared_ask(ask, None, redactor) for ask in asks]
        found = Action.objects.filter(id__in=[ask.action for ask in asks]).select_related("input", "output")
        actions = {each.id: each for each in found}
        return [shared_ask(ask, actions[ask.action], redactor) for ask in asks]

    def _lines(self, asks: Sequence[Ask]) -> Mapping[int, AnswerLines]:
        redactor = self._redactor()
        steps = {cell.step for ask in asks for cell in ask.runs.values() if cell.step is not None}
        shown = self._cells().filter(id__in=steps).select_related("action")
        return answer_lines(
            list(shown),
            lambda output: redactor.document({"output": output})["output"],
            withholds=redactor.rules is not None,
        )

    def _marks(self, marks: Sequence[CellMark]) -> list[SharedMark]:
        redactor, end = self._redactor(), self.link.created_at
        return [shared_mark(each, redactor) for each in marks if each.created_at <= end]

    def _opinions(self, opinions: Sequence[CellOpinion]) -> list[SharedOpinion]:
        redactor, end = self._redactor(), self.link.created_at
        return [
            shared_opinion(each, redactor)
            for each in opinions
            if each.finished_at is not None and each.finished_at <= end
        ]

    def _redactor(self) -> Redactor:
        return Redactor.of(self.link)

    def _cells(self) -> QuerySet[ReplayStep]:
        return steps_within(self.link)


def _without_later(ask: Ask, shown: set[int]) -> Ask:
    runs: Mapping[tuple[int, int], Cell] = {
        at: cell
        if cell.step in shown
        else Cell(arm=cell.arm, repeat=cell.repeat, called=cell.called, missing=LATER)
        for at, cell in ask.runs.items()
    }
    return replace(ask, runs=runs)
