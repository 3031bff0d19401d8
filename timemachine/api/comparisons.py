"""Comparisons over HTTP: launch, follow, cancel, retry, read cell by cell, rate, judge, export."""

from typing import Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.openapi import file_answer
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.jobs.queue import enqueue
from timemachine.recording.sessions.queries import session_of, sessions_named
from timemachine.replay.alignment.divergence import first_divergence
from timemachine.replay.alignment.queries import aligned
from timemachine.replay.alignment.schemas import AlignmentOut, DivergenceOut, SideOut, StepPairOut
from timemachine.replay.comparison import commands, queries
from timemachine.replay.comparison.commands import Plan
from timemachine.replay.comparison.estimate import estimates, judge_estimate
from timemachine.replay.comparison.export import file_of
from timemachine.replay.comparison.judge_queue import ask_judge, cancel_judges
from timemachine.replay.comparison.judge_schemas import (
    JudgeEstimateOut,
    JudgeQueued,
    JudgesCancelled,
    OpinionDetail,
    OpinionsIn,
)
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.comparison.pure.variants import names
from timemachine.replay.comparison.results import results_of
from timemachine.replay.comparison.schemas import (
    AskCells,
    AskCellsPage,
    ComparisonFile,
    ComparisonIn,
    ComparisonLaunched,
    ComparisonOut,
    ComparisonPage,
    ComparisonResults,
    MarkIn,
    MarkOut,
    VariantEstimateOut,
    VariantEstimates,
)
from timemachine.replay.tasks import compute_results, judge_cells, run_replay

router = Router(tags=["comparisons"])
WITHOUT_REASON = "none was given to the API"


@router.post("", response={202: ComparisonLaunched}, summary="Launch a comparison")
def launch(request: HttpRequest, payload: ComparisonIn) -> Status[ComparisonLaunched]:
    """Ask these sessions' questions again with each arm, over their frozen contexts; follow it at /api/comparisons/{id}."""
    who = caller(request, "run")
    return launched(who.project, _plan(who.project, payload), who.by)


@router.post("/estimate", response=VariantEstimates, summary="Estimate the cost of a comparison")
def estimate_launch(request: HttpRequest, payload: ComparisonIn) -> VariantEstimates:
    """The estimated cost of the comparison that the same request would launch, by arm, for all its runs. No model is called."""
    project = caller(request, "run").project
    plan = commands.checked(project, _plan(project, payload))
    found = zip(names(plan.arms), estimates(plan), strict=True)
    return VariantEstimates.model_construct(
        estimates=[
            VariantEstimateOut.from_attributes(each, arm=number, name=name)
            for number, (name, each) in enumerate(found, 1)
        ]
    )


def _plan(project: Project, payload: ComparisonIn) -> Plan:
    return Plan(
        sessions=sessions_named(project, payload.sessions),
        arms=payload.arms,
        repeats=payload.repeats,
        noise_floor=payload.noise_floor,
        reason=WITHOUT_REASON if payload.reason is None else payload.reason,
        spend_limit_usd=payload.spend_limit_usd,
    )


def launched(project: Project, plan: Plan, by: str) -> Status[ComparisonLaunched]:
    """Return the launched comparison and its replays."""
    made = commands.create(project, plan, by=by)
    ids = [each.id for each in queries.replays_of(made)]
    enqueue(run_replay, *ids)
    return Status(
        202,
        ComparisonLaunched.model_construct(
            comparison_id=str(made.id), replay_ids=[str(each) for each in ids]
        ),
    )


@router.get("", response=ComparisonPage, summary="List comparisons")
def index(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> ComparisonPage:
    """The project's comparisons, newest first."""
    found = queries.comparisons_of(caller(request, "read").project)
    rows, following = paging.ordered_rows(found, limit, after)
    progress = progress_of(rows)
    shown = [ComparisonOut.of(each, progress[each.id]) for each in rows]
    return ComparisonPage.model_construct(items=shown, next=following)


@router.get("/{comparison_id}", response=ComparisonResults, summary="One comparison")
def read(request: HttpRequest, comparison_id: str, so_far: bool = False) -> ComparisonResults:
    """The progress of a comparison and, once it has finished, the totals of its columns and the result of each pair of them.

    `results.state` is `not_yet` while it runs (unless `so_far` requests interim results), `under_way` while a worker computes
    them (older ones are shown in the meantime), `current`, or `failed`.
    """
    found = queries.comparison_of(caller(request, "read").project, comparison_id)
    progress = progress_of([found])[found.id]
    results = results_of(found, progress, so_far=so_far)
    if results.due:
        enqueue(compute_results, found.id)
    return ComparisonResults.of_results(found, progress, results)


@router.get("/{comparison_id}/cells", response=AskCellsPage, summary="A comparison's cells")
def cells(
    request: HttpRequest, comparison_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> AskCellsPage:
    """The asks in order, each with the metrics of every answer, its ratings and the verdicts of judge models."""
    of = queries.comparison_of(caller(request, "read").project, comparison_id)
    results = results_of(of, progress_of([of])[of.id])
    current = results.findings is not None and results.state == "current"
    found = results.findings.asks if current and results.findings else queries.asks_of(of)
    start = 0 if after is None else paging.read(after, paging.number)
    shown = found[start : start + paging.checked_limit(limit)]
    more = start + len(shown) < len(found)
    return AskCellsPage.model_construct(
        items=AskCells.of_all(queries.with_texts(shown) if current else shown),
        next=paging.written([start + len(shown)]) if more else None,
    )


@router.get(
    "/{comparison_id}/export",
    response=ComparisonFile,
    summary="Export a comparison",
    openapi_extra=file_answer("text/csv"),
)
def export(request: HttpRequest, comparison_id: str, format: str = "json") -> HttpResponse:  # noqa: A002  # the parameter's name
    """`format=json`: the comparison with its cells and statistics in one document.

    `format=csv`: a line for each cell, in it the session's name and key and the whole text of the answer; a text that a spreadsheet would
    take for a formula begins with an apostrophe.
    """
    file = file_of(queries.comparison_of(caller(request, "read").project, comparison_id), format)
    named = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return HttpResponse(file.data, content_type=file.media_type, headers=named)


@router.post("/{comparison_id}/cancel", response=ComparisonOut, summary="Cancel a comparison")
def cancel(request: HttpRequest, comparison_id: str) -> ComparisonOut:
    """Stop all its replays. Waiting calls do not start; running calls end within a few seconds."""
    who = caller(request, "run")
    found = queries.comparison_of(who.project, comparison_id)
    commands.cancel(found, by=who.by)
    return ComparisonOut.of(found, progress_of([found])[found.id])


@router.post(
    "/{comparison_id}/retry",
    response={202: ComparisonOut},
    summary="Retry failed and cancelled answers",
)
def retry(request: HttpRequest, comparison_id: str) -> Status[ComparisonOut]:
    """Ask again for failed and cancelled answers, once the comparison has finished."""
    found = queries.comparison_of(caller(request, "run").project, comparison_id)
    enqueue(run_replay, *commands.retry(found))
    return Status(202, ComparisonOut.of(found, progress_of([found])[found.id]))


@router.post("/{comparison_id}/marks", response={201: MarkOut}, summary="Rate a cell")
def mark(request: HttpRequest, comparison_id: str, payload: MarkIn) -> Status[MarkOut]:
    """Rate an answer against the recorded one: `equivalent`, `contradicts`, `better` or `worse`; `withdrawn` removes a rating."""
    who = caller(request, "run")
    found = queries.comparison_of(who.project, comparison_id)
    step = queries.step_at(
        found,
        session_of(who.project, payload.session),
        payload.sequence,
        arm=payload.arm,
        repeat=payload.run,
    )
    return Status(201, MarkOut.of(commands.mark(found, step, payload.verdict, by=who.by, note=payload.note)))


@router.post(
    "/{comparison_id}/judgements", response={202: JudgeQueued}, summary="Let a model judge the cells"
)
def judge(request: HttpRequest, comparison_id: str, payload: OpinionsIn) -> Status[JudgeQueued]:
    """Ask a model about every changed cell, or about one, each twice with the answers swapped. The calls are paid.

    What it says is its opinion, stands with the cells, and is never part of a verdict. It is asked in the background.
    """
    who = caller(request, "run")
    found = queries.comparison_of(who.project, comparison_id)
    queued = ask_judge(found, payload.model, by=who.by, step=_step(who.project, found, payload))
    enqueue(judge_cells, found.id)
    return Status(202, queued)


@router.get(
    "/{comparison_id}/judgements/estimate",
    response=JudgeEstimateOut,
    summary="Estimate the cost of judging the cells",
)
def estimate(request: HttpRequest, comparison_id: str, payload: Query[OpinionsIn]) -> JudgeEstimateOut:
    """The estimated tokens and US dollars of the calls that `judgements` would make; `cost_usd` is null if the price is unknown. No model is called."""
    who = caller(request, "read")
    found = queries.comparison_of(who.project, comparison_id)
    return judge_estimate(found, payload.model, _step(who.project, found, payload))


@router.post("/{comparison_id}/judgements/cancel", response=JudgesCancelled, summary="Cancel the judging")
def cancel_judgements(request: HttpRequest, comparison_id: str) -> JudgesCancelled:
    """Cancel the waiting calls and end the running ones. The running ones may be billed."""
    cells = cancel_judges(queries.comparison_of(caller(request, "run").project, comparison_id))
    return JudgesCancelled.model_construct(cells=cells)


@router.get("/{comparison_id}/judgements/{uuid:opinion_id}", response=OpinionDetail, summary="One opinion")
def opinion(request: HttpRequest, comparison_id: str, opinion_id: UUID) -> OpinionDetail:
    """A judge model's verdict on a cell, with the messages that were sent and its raw answers."""
    found = queries.comparison_of(caller(request, "read").project, comparison_id)
    return OpinionDetail.of(queries.opinion_of(found, opinion_id))


def _step(project: Project, found: Comparison, payload: OpinionsIn) -> int | None:
    """Return the step of the named cell; None for all cells."""
    if payload.session is None:
        return None
    if payload.sequence is None or payload.arm is None:
        raise InvalidInput(
            "Name the cell by `session`, `sequence` and `arm`, or leave all three out.",
            code="invalid_request",
        )
    session = session_of(project, payload.session)
    return queries.step_at(found, session, payload.sequence, arm=payload.arm, repeat=payload.run).id


alignments = Router(tags=["compare"])


@alignments.get("", response=AlignmentOut, summary="Compare two sessions or replays")
def compare(
    request: HttpRequest,
    a: str,
    b: str,
    show: Literal[
        "all", "changed", "modified", "moved", "only_left", "only_right", "not_asked", "same"
    ] = "all",
    limit: int = paging.DEFAULT,
    after: str | None = None,
) -> AlignmentOut:
    """The steps of both in pairs, aligned by what they are: `same`, `modified`, `moved`, `only_left` (only `a` has it), `only_right` or `not_asked` (left out for a spend limit).

    A step that `moved` is in two pairs, at its place in `a` and at its place in `b`, and counts once.

    `first_divergence` is the first pair in which the agent did something else: another call, other arguments, another answer.

    `a` and `b` are a session's id or key, or a replay's id. Two runs of one session are paired by sequence; against a replay
    only finds, asks and model calls are compared.
    """
    project = caller(request, "read").project
    size = paging.checked_limit(limit)
    behind = -1 if after is None else paging.read(after, paging.number)
    found = aligned(project, a, b)
    places = [place for place in found.shown(show) if place > behind]
    shown = places[:size]
    divergence = first_divergence(found)
    return AlignmentOut.model_construct(
        a=SideOut.of(found.left),
        b=SideOut.of(found.right),
        first_divergence=None if divergence is None else DivergenceOut.of(divergence),
        compared="finds_and_asks" if found.only_replayed else "steps",
        counts=found.counts,
        items=[StepPairOut.of(found, place) for place in shown],
        next=paging.written([shown[-1]]) if len(places) > size else None,
    )
