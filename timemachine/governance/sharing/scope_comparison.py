"""What a link to a comparison shows: its asks with the answers that there were when the link was made, and what was said of them then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.db.models import QuerySet

from timemachine.governance.sharing.boundaries import actions_within, counted_steps, steps_within
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.redactor import Veil
from timemachine.governance.sharing.replay_redactor import mark_of, opinion_of, side_by_side
from timemachine.governance.sharing.shared_steps import Recorded, gone
from timemachine.recording.sessions.models import Action
from timemachine.recording.timeline.step import Step
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.findings import Findings, findings
from timemachine.replay.comparison.pure.metrics import arm_totals, column
from timemachine.replay.comparison.pure.variants import RECORDING, Arm
from timemachine.replay.comparison.queries import Said, arms_of, marks_of, opinions_of, said_of
from timemachine.replay.comparison.results import FEW, results_of
from timemachine.replay.runs.models import ReplayStep

LATER: Final = "answered later"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedResults:
    """What the figures show of the answers in the link; None where a worker has not computed them (`state`, as in `Results`).

    `later` answers came after the link was made and are in none of it; where they leave more than a few to count anew,
    each two columns are not set against each other (`paired` is False). `due`: a door is to ring for them.
    """

    findings: Findings | None
    state: str
    later: int = 0
    paired: bool = True
    due: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedComparison:
    """One comparison, exactly: whatever is not among its cells raises the one `NotFound`."""

    link: ShareLink
    comparison: Comparison

    def arms(self) -> list[Arm]:
        """The arms as they were launched."""
        return arms_of(self.comparison)

    def ask_count(self) -> int:
        """How many recorded asks were answered."""
        return counted_steps(self.link).filter(kind="ask").values("action_id").distinct().count()

    def results(self) -> SharedResults:
        """The asks with their answers and what they come to."""
        self._require_cells()
        kept = results_of(self.comparison, progress_of([self.comparison])[self.comparison.id], so_far=True)
        if kept.findings is None:
            return SharedResults(findings=None, state=kept.state, due=kept.due)
        shown = set(self._cells().values_list("id", flat=True))
        later = sum(cell.step not in shown for ask in kept.findings.asks for cell in ask.runs.values())
        if not later:
            return SharedResults(findings=kept.findings, state=kept.state, due=kept.due)
        asks = [_without_later(ask, shown) for ask in kept.findings.asks]
        paired = len(shown) <= FEW
        return SharedResults(
            findings=self._counted(asks, paired=paired), state="current", later=later, paired=paired
        )

    def said(self, asks: Sequence[Ask]) -> Said:
        """These asks with their questions, and what people marked and judges said of their cells before the link was made."""
        told, end = said_of(asks), self.link.created_at
        return replace(
            told,
            asks=self._asks(told.asks),
            marks={step: self._marks(marks, end) for step, marks in told.marks.items()},
            opinions={step: self._opinions(opinions, end) for step, opinions in told.opinions.items()},
        )

    def said_of_cell(self, cell: ReplayStep) -> tuple[list[CellMark], list[CellOpinion]]:
        """What people marked and judges said of one cell before the link was made."""
        end = self.link.created_at
        marks, opinions = marks_of([cell.id]), opinions_of([cell.id])
        return self._marks(marks.get(cell.id, []), end), self._opinions(opinions.get(cell.id, []), end)

    def cell(self, step_id: int) -> ReplayStep:
        """The step behind a cell, with all that its page shows."""
        found = (
            self._cells()
            .filter(id=step_id)
            .select_related("replay__run", "replay__session", "action__input", "action__output", "output")
            .first()
            if 0 < step_id < 2**62
            else None
        )
        if found is None:
            raise gone()
        veil = self._veil()
        return side_by_side(veil, found, veil.replay(found.replay))

    def contexts(self, cell: ReplayStep) -> list[Step]:
        """The recorded steps that hold the passages of a cell's ask."""
        actions = actions_within(self.link).filter(session=cell.replay.session)
        recorded = Recorded(session=cell.replay.session, actions=actions, veil=self._veil())
        return recorded.context_steps(cell.sequence)

    def _counted(self, asks: Sequence[Ask], *, paired: bool) -> Findings:
        arms = len(self.comparison.arms)
        if paired:
            return findings(asks, arms, noise_floor=self.comparison.noise_floor)
        columns = [arm_totals(asks, column(asks, each)) for each in range(RECORDING, arms + 1)]
        return Findings(asks=asks, columns=columns, ordered=[], noise=[])

    def _asks(self, asks: Sequence[Ask]) -> list[Ask]:
        veil = self._veil()
        if veil.rules is None:
            return list(asks)
        found = Action.objects.filter(id__in=[ask.action for ask in asks]).select_related("input", "output")
        actions = {each.id: each for each in found}
        return [_veiled(ask, actions[ask.action], veil) for ask in asks]

    def _marks(self, marks: Sequence[CellMark], end: datetime) -> list[CellMark]:
        veil = self._veil()
        return [mark_of(veil, each) for each in marks if each.created_at <= end]

    def _opinions(self, opinions: Sequence[CellOpinion], end: datetime) -> list[CellOpinion]:
        veil = self._veil()
        return [
            opinion_of(veil, each)
            for each in opinions
            if each.finished_at is not None and each.finished_at <= end
        ]

    def _veil(self) -> Veil:
        return Veil.of(self.link)

    def _require_cells(self) -> None:
        if self.link.evidence_only:
            raise gone()

    def _cells(self) -> QuerySet[ReplayStep]:
        return steps_within(self.link)


def _veiled(ask: Ask, action: Action, veil: Veil) -> Ask:
    """The ask with its question as it reads in the redacted step, and with its errors redacted."""
    runs = {at: replace(cell, error=veil.text(cell.error)) for at, cell in ask.runs.items()}
    recorded = replace(ask.recorded, error=veil.text(ask.recorded.error))
    return replace(
        ask,
        question=veil.question(action),
        session_name=veil.session_name(ask.session_name),
        recorded=recorded,
        runs=runs,
    )


def _without_later(ask: Ask, shown: set[int]) -> Ask:
    runs: Mapping[tuple[int, int], Cell] = {
        at: cell if cell.step in shown else Cell(arm=cell.arm, repeat=cell.repeat, missing=LATER)
        for at, cell in ask.runs.items()
    }
    return replace(ask, runs=runs)
