"""Comparisons and their cells as the API takes and returns them."""

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import Field, StrictBool

from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.replay.comparison.groups import CallGroup, groups_of
from timemachine.replay.comparison.judge_schemas import OpinionOut
from timemachine.replay.comparison.missing_answers import MissingAnswers, missing_answers
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.comparison.partings import Parting, partings_of, summary_of
from timemachine.replay.comparison.progress import Progress, over_limit
from timemachine.replay.comparison.pure.cells import Ask, Cell
from timemachine.replay.comparison.pure.variants import Variant, names
from timemachine.replay.comparison.queries import (
    marks_of,
    opinions_of,
    replays_of,
    steps_compared,
    variants_of,
)
from timemachine.replay.comparison.result_schemas import METHOD, ColumnOut, Method, VariantPairOut
from timemachine.replay.comparison.results import Results
from timemachine.replay.runs.schemas import EstimateOut, ReplayStatus, WaitingOut


class VariantIn(Variant):
    """One arm of a comparison: a model and the options of its calls; null is as it was recorded."""

    model: str = Field(min_length=1)


class ComparisonIn(Strict):
    """What to compare. `repeats` is how often each arm is asked; `noise_floor` asks it once more, against itself."""

    sessions: list[str] = Field(max_length=1_000)
    arms: list[VariantIn] = Field(max_length=100)
    repeats: int = 1
    noise_floor: StrictBool = False
    spend_limit_usd: float | None = None
    reason: str | None = None


class MarkIn(Strict):
    """A person's rating of a cell: the answer of an arm's run at a recorded ask or model call."""

    session: str
    sequence: int = Field(ge=1, lt=2**62)
    arm: int = Field(ge=1, le=8)
    run: int = Field(default=1, ge=0, le=1_000)
    verdict: str
    note: str = ""


class VariantOut(Schema):
    """A model and the options of its calls; those that are absent are as they were recorded."""

    arm: int
    name: str
    model: str
    system_prompt: str | None = None
    prompt_template: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None


class AnswerCounts(Schema):
    """How many answers are requested, have ended and are there, and how many have each status that occurs."""

    total: int
    finished: int
    answered: int
    waiting: int | None = None
    running: int | None = None
    done: int | None = None
    failed: int | None = None
    skipped: int | None = None
    cancelled: int | None = None
    uncertain: int | None = None


class JudgesOut(Schema):
    """How many cells judge models were or will be asked about, how far they are, how many gave no verdict, and what that cost."""

    cells: int
    waiting: int
    asking: int
    busy: WaitingOut
    failed: int
    cost_usd: float
    unknown_cost_calls: int


class ComparisonOut(Schema):
    """What is compared, and how far it is. Money is US dollars."""

    id: str
    status: ReplayStatus
    reason: str
    requested_by: str
    created_at: str
    arms: list[VariantOut]
    repeats: int
    noise_floor: bool
    spend_limit_usd: float | None
    over_limit_usd: float | None
    answers: AnswerCounts
    replays: dict[ReplayStatus, int]
    cost_usd: float
    unknown_cost_calls: int
    uncertain_calls: int
    waiting: WaitingOut
    judges: JudgesOut

    @classmethod
    def of(cls, comparison: Comparison, progress: Progress, **more: Any) -> Self:
        arms = variants_of(comparison)
        return cls.from_attributes(
            comparison,
            status=progress.status,
            arms=[
                VariantOut.from_attributes(arm, arm=number, name=name, **arm.as_json())
                for number, (arm, name) in enumerate(zip(arms, names(arms), strict=True), 1)
            ],
            over_limit_usd=over_limit(comparison, progress),
            answers=AnswerCounts.from_attributes(progress, **progress.steps),
            replays=progress.replays,
            cost_usd=progress.cost_usd,
            unknown_cost_calls=progress.unknown_cost_calls,
            uncertain_calls=progress.uncertain_calls,
            waiting=progress.waits,
            judges=progress.judges,
            **more,
        )


class ComparisonPage(Page[ComparisonOut]):
    """Comparisons of the project, the newest first."""


class ComparisonLaunched(Schema):
    """The ids of a comparison that was launched and of its replays."""

    comparison_id: str
    replay_ids: list[str]


class _NamedVariant(Schema):
    arm: int
    name: str


class VariantEstimateOut(EstimateOut, _NamedVariant):
    """About what all runs of an arm would cost."""


class VariantEstimates(Schema):
    """An estimate for each arm."""

    estimates: list[VariantEstimateOut]


class ReplayOfVariant(Schema):
    """The replay that is one run of an arm over one session; run 0 is the noise floor."""

    replay_id: str
    session: str
    arm: int
    run: int
    status: ReplayStatus


class ResultsState(Schema):
    """Of how many answers the results are, and when they were computed.

    `not_yet` while the comparison runs; `under_way` while newer ones are computed; `failed` if a worker failed at it too often.
    """

    state: Literal["not_yet", "under_way", "current", "failed"]
    answers: int | None
    computed_at: str | None


class ComparisonResults(ComparisonOut):
    """The comparison with its replays, its columns, and each two of them compared; null if nothing was computed.

    `summary` is the result in one sentence. `asks` and `model_calls` count the steps that are compared.
    `partings` say where each run over a session first does something else than the recording.
    `missing_answers` are each arm's most frequent reasons why answers are missing, at most three.
    """

    summary: str | None
    replay_ids: list[ReplayOfVariant]
    asks: int
    model_calls: int
    results: ResultsState
    missing_answers: list[MissingAnswers]
    columns: list[ColumnOut] | None
    pairs: list[VariantPairOut] | None
    noise: list[VariantPairOut] | None
    groups: list[CallGroup]
    partings: list[Parting]
    method: Method

    @classmethod
    def of_results(cls, comparison: Comparison, progress: Progress, found: Results, **more: Any) -> Self:
        shown = found.findings
        steps = steps_compared(comparison) if shown is None else shown.steps
        partings = partings_of(comparison)
        return cls.of(
            comparison,
            progress,
            replay_ids=[
                ReplayOfVariant.from_attributes(
                    each, replay_id=each.id, session=each.session_id, arm=each.run.arm, run=each.run.repeat
                )
                for each in replays_of(comparison)
            ],
            summary=None if shown is None else summary_of(shown, names(variants_of(comparison)), partings),
            asks=steps.asks,
            model_calls=steps.model_calls,
            results=found,
            missing_answers=missing_answers(comparison),
            columns=None if shown is None else [ColumnOut.of(each) for each in shown.columns],
            pairs=None if shown is None else [VariantPairOut.of(each, steps) for each in shown.pairs],
            noise=None if shown is None else [VariantPairOut.of(each, steps) for each in shown.noise],
            groups=groups_of(comparison),
            partings=partings,
            method=METHOD,
            **more,
        )


class MarkOut(Schema):
    """What a person said of a cell."""

    verdict: Literal["equivalent", "contradicts", "better", "worse", "withdrawn"]
    note: str
    by: str
    created_at: str

    @classmethod
    def of(cls, mark: CellMark) -> "MarkOut":
        return cls.from_attributes(mark, by=mark.marked_by)


class CellOut(Schema):
    """An answer: the recorded one (arm 0), or that of an arm's run; `missing` says why the answer is missing."""

    arm: int
    run: int
    replay: str | None
    status: str
    verdict: str | None
    missing: str | None
    refused: bool
    cut_off: bool
    grounding: float | None
    grounding_label: str | None
    cost_usd: float | None
    latency_ms: float | None
    tokens: int | None
    cached: bool
    error: str | None
    marks: list[MarkOut]
    opinions: list[OpinionOut]

    @classmethod
    def of(cls, cell: Cell, marks: Sequence[CellMark], opinions: Sequence[CellOpinion]) -> "CellOut":
        return cls.from_attributes(
            cell,
            run=cell.repeat,
            grounding_label=cell.label,
            marks=[MarkOut.of(each) for each in marks],
            opinions=[OpinionOut.of(each) for each in opinions],
        )


class AskCells(Schema):
    """A recorded ask or model call with its answers: the recorded one, then those of the arms, run by run.

    `label` is the question of an ask, or the name of a model call.
    """

    session: str
    sequence: int
    kind: Literal["ask", "llm_call"]
    label: str
    cells: list[CellOut]

    @classmethod
    def of_all(cls, asks: Sequence[Ask]) -> "list[AskCells]":
        """The steps with their cells; two queries for any number of them."""
        steps = [cell.step for ask in asks for cell in ask.answers if cell.step is not None]
        marks, opinions = marks_of(steps), opinions_of(steps)
        return [
            cls.from_attributes(
                ask,
                cells=[
                    CellOut.of(cell, marks.get(cell.step or 0, []), opinions.get(cell.step or 0, []))
                    for cell in ask.answers
                ],
            )
            for ask in asks
        ]


class AskCellsPage(Page[AskCells]):
    """The asks and model calls of a comparison in their order."""


class ComparisonFile(ComparisonResults):
    """All of a comparison: its results and its cells."""

    cells: list[AskCells]
