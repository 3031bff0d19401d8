"""Working on a sweep: each setting is claimed, measured over every step, and written under its lease."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from timemachine.core.leases import Lease, LeaseLost
from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.knowledge.embedding.wordllama import count_tokens
from timemachine.knowledge.find import FindResult, Query, find
from timemachine.knowledge.models import Collection
from timemachine.recording.answering.model_asks import CallParameters, prompt_of
from timemachine.recording.answering.pure.prompt import Passage
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs import frozen
from timemachine.replay.runs.retrieval import moment_of, recorded_key, searched_in
from timemachine.replay.sweeps import commands
from timemachine.replay.sweeps.models import Sweep, SweepRow
from timemachine.replay.sweeps.pure.grid import Setting
from timemachine.replay.sweeps.schemas import SweepResult
from timemachine.text.pure.difference.ranking import Ranked, compare_rankings


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One step with one setting. `overlap` and `rank_biased_overlap` compare with the recorded hits, None if there are none to compare.

    `grounded` counts the frames that support the recorded answer, `grounded_found` those of them that were
    found.
    """

    hits: int
    tokens: int
    overlap: float | None
    rank_biased_overlap: float | None
    grounded: int
    grounded_found: int


def work(sweep_id: UUID) -> int:
    """Measure the settings of a sweep until none is left, and return how many this worker wrote. Safe to run twice, and to be killed."""
    written = 0
    if not Sweep.objects.filter(id=sweep_id, finished_at=None).exists():
        return 0
    while (lease := commands.claim(sweep_id)) is not None:
        with contextlib.suppress(LeaseLost):
            _measure_claimed(lease)
            written += 1
    with contextlib.suppress(Sweep.DoesNotExist):  # erased in the meantime
        commands.finish_if_done(sweep_id)
    return written


def _measure_claimed(lease: Lease[SweepRow]) -> None:
    """Measure one setting. The lease is extended before each step, and lost if the sweep was cancelled."""
    row = SweepRow.objects.select_related("sweep").filter(id=lease.pk).first()
    if row is None:
        raise LeaseLost
    try:
        result = measure(row, go_on=lease.write)
    except TimeMachineError as failed:
        commands.write(lease, status="failed", error_message=failed.message)
    else:
        commands.write(lease, status="done", result=result.model_dump())


def measure(row: SweepRow, go_on: Callable[[], None]) -> SweepResult:
    """Return the result of a setting over the sweep's steps; `go_on` runs before each step and can stop it by raising.

    Steps whose query was not recorded as text, or that searched another collection than the session's, are left out and
    counted. Raises what a find raises.
    """
    setting = Setting(**row.setting)
    steps: list[Measured] = []
    left_out = 0
    actions = Action.objects.filter(session_id=row.sweep.session_id, sequence__in=row.sweep.steps)
    related = actions.select_related("session__collection", "input")
    for action in related.order_by("sequence").iterator(100):
        go_on()
        question, collection = frozen.question_of(action), action.session.collection
        if collection is None:
            raise InvalidInput("The session no longer has a collection.", code="collection_needed")
        if question is None or not question.strip() or not searched_in(collection, action):
            left_out += 1
        else:
            steps.append(_step(row.sweep, collection, action, question, setting))
    return tallied(steps, left_out)


def tallied(steps: Sequence[Measured], left_out: int = 0) -> SweepResult:
    """Return the result of a setting: sums, and means over the steps that have the value; None if none has.

    `recall` is the share of all grounded frames that were found.
    """
    grounded = sum(step.grounded for step in steps)
    found = sum(step.grounded_found for step in steps)
    tokens = sum(step.tokens for step in steps)
    return SweepResult.model_construct(
        steps=len(steps),
        hits=sum(step.hits for step in steps),
        tokens=tokens,
        tokens_per_step=tokens / len(steps) if steps else None,
        grounded_frames=grounded,
        grounded_found=found,
        recall=found / grounded if grounded else None,
        overlap=_mean([step.overlap for step in steps]),
        rank_biased_overlap=_mean([step.rank_biased_overlap for step in steps]),
        left_out=left_out,
    )


def _step(sweep: Sweep, collection: Collection, action: Action, question: str, setting: Setting) -> Measured:
    query = Query(
        text=question,
        mode=setting.mode,
        top_k=setting.top_k,
        adaptive=setting.adaptive,
        embedding_model=setting.embedding_model,
        as_of=moment_of(action) if sweep.grid["as_of"] == "recorded" else None,
    )
    findings = find(collection, query)
    hits = frozen.hits_of(action)
    compared = compare_rankings(
        [Ranked(key=recorded_key(hit), rank=hit.rank) for hit in hits],
        [Ranked(key=hit.frame, rank=hit.rank) for hit in findings.hits],
        max(len(hits), setting.top_k),
    )
    grounded = grounded_frames(action)
    return Measured(
        hits=len(findings.hits),
        tokens=_tokens(findings),
        overlap=compared.overlap,
        rank_biased_overlap=compared.rank_biased_overlap,
        grounded=len(grounded),
        grounded_found=len(grounded & {hit.frame for hit in findings.hits}),
    )


def grounded_frames(action: Action) -> set[int]:
    """Return the frames of the collection that the recorded grounding names as support of a sentence."""
    sentences = (action.grounding or {}).get("sentences")
    named = [each for each in sentences if isinstance(each, dict)] if isinstance(sentences, list) else []
    return {
        each["frame"] for each in named if each.get("grounded") is True and type(each.get("frame")) is int
    }


def _tokens(findings: FindResult) -> int:
    """Return the tokens that the passages add to a prompt: the difference between the prompts with and without them."""
    passages = [Passage(frame=hit.frame, title=hit.title, text=hit.text) for hit in findings.hits]
    text = findings.query.text
    with_them, without = (
        count_tokens(prompt_of(text, each, CallParameters()).messages[-1].content) for each in (passages, [])
    )
    return with_them - without


def _mean(figures: Sequence[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None
