"""The steps of replays as the API returns them."""

from typing import Any, Literal, Self

from pydantic import Field

from timemachine.core.payloads.queries import text, value
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema
from timemachine.core.pure.verdicts import ContextVerdict, RetrievalVerdict
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.llm.schemas import FailureOut, UsageOut
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL, Kind
from timemachine.replay.runs.models import ReplayHit, ReplayStep
from timemachine.replay.runs.pure.context import FrozenFrameOut
from timemachine.replay.runs.pure.written_calls import answer_line
from timemachine.text.pure.difference.ranking import RankingDiff

StepStatus = Literal["waiting", "running", "done", "failed", "skipped", "cancelled", "uncertain"]


class FrameMoved(Schema):
    """A frame that has another rank."""

    frame: int | str
    from_: int = Field(alias="from")
    to: int


class RankingCompared(Schema):
    """Two ranked lists of passages compared."""

    verdict: RetrievalVerdict
    gained: list[int | str]
    lost: list[int | str]
    moved: list[FrameMoved]
    k: int
    overlap: float | None
    rank_biased_overlap: float | None
    rank_biased_depth: int | None
    persistence: float

    @classmethod
    def of(cls, found: RankingDiff, **more: Any) -> Self:
        moved = [
            FrameMoved.from_attributes(move, frame=move.key, from_=move.old_rank, to=move.new_rank)
            for move in found.moved
        ]
        return cls.from_attributes(found, moved=moved, rank_biased_depth=found.depth, **more)


class RetrievalCompared(RankingCompared):
    """What is found, compared with what was recorded. How it was searched for is absent if the passages were chosen by a person.

    `k` is how deep the lists were compared, `persistence` the p of the rank-biased overlap. `rank_biased_depth` is the length of the shorter
    list, below which that overlap says nothing; null if both are equally long. `pool` is how many of the best passages an adaptive cut-off
    that was chosen looked at. `below_needs` are the settings with which it would keep the passage `below` too.
    """

    mode: str
    as_of: str | None
    recorded_hits: int
    found_hits: int
    # A default only says that the field can be absent; those of these types can be null, too.
    top_k: int = 0
    adaptive: bool = False
    pool: int | None = 0
    thresholds: JsonObject | None = Field(default_factory=dict)
    min_score: float | None = 0
    cut_by: str = ""
    curve: JsonObject = Field(default_factory=dict)
    below: JsonObject | None = Field(default_factory=dict)
    below_needs: JsonObject | None = Field(default_factory=dict)
    embedding_model: str | None = ""
    semantic_search: str | None = ""
    not_embedded: int | None = 0


class CalledTool(Schema):
    """A tool that a model called, with its arguments: JSON, or the text that the model wrote if that is not JSON."""

    name: str
    arguments: Any


class AnswerOut(Schema):
    """What a model call answered, whatever the form of its output: its text and the tools that it called, and on one line."""

    text: str | None
    calls: list[CalledTool]
    line: str

    @classmethod
    def of(cls, kind: str, output: Any) -> "AnswerOut | None":
        """Return the answer in the output of a model call; None for any other step and an output in no known form."""
        found = read_answer(output) if kind == MODEL_CALL and output is not None else None
        if found is None:
            return None
        calls = [
            CalledTool(name=call.name, arguments=call.arguments if call.raw is None else call.raw)
            for call in found.calls
        ]
        return cls(text=found.text or None, calls=calls, line=answer_line(found))


class RecordedStep(Schema):
    """What was recorded of a step. `answer` is null if it is not a model call."""

    input: Any
    output: Any
    answer: AnswerOut | None
    model: str | None
    parameters: JsonObject | None
    usage: UsageOut | None
    cost_usd: float | None
    duration_ms: float | None
    grounding: JsonObject | None
    retrieval: JsonObject | None

    @classmethod
    def of(cls, action: Action) -> "RecordedStep":
        given, came = value(action.input), value(action.output)
        answer = AnswerOut.of(action.kind, came)
        return cls.from_attributes(action, input=given, output=came, answer=answer, usage=UsageOut.of(action))


class ReplayHitOut(Schema):
    """A passage that a replay found, with its text; `matched` says what it was found by."""

    rank: int
    score: float | None
    scores: dict[str, float] | None
    matched: JsonObject | None
    frame: int | str | None
    version: int | None
    title: str | None
    uri: str | None
    metadata: JsonObject | None
    sha256: str | None
    text: str | None

    @classmethod
    def of(cls, hit: ReplayHit) -> "ReplayHitOut":
        return cls.from_attributes(hit, text=text(hit.payload) if hit.payload is not None else None)


class NewStep(Schema):
    """What a replay made of a step. `answer` is null if it is not a model call."""

    output: Any
    answer: AnswerOut | None
    model: str | None
    parameters: JsonObject | None
    usage: UsageOut | None
    cost_usd: float | None
    prices: JsonObject | None
    duration_ms: float | None
    grounding: JsonObject | None
    hits: list[ReplayHitOut]
    error: FailureOut | None

    @classmethod
    def of(cls, step: ReplayStep) -> "NewStep | None":
        """The new step; None if nothing was called, found or tried."""
        if step.model is None and step.retrieval is None and step.error_message is None:
            return None
        made = value(step.output)
        return cls.from_attributes(
            step,
            output=made,
            answer=AnswerOut.of(step.kind, made),
            usage=UsageOut.of(step),
            hits=[ReplayHitOut.of(hit) for hit in step.hits.all()],
            error=FailureOut.of(step) if step.error_message else None,
        )


class AttemptOut(Schema):
    """An attempt at a step: which worker made it, when, and how it ended."""

    number: int
    worker: str
    started_at: str
    call_intended_at: str | None
    finished_at: str | None
    outcome: str | None
    calls_made: int | None
    cost_usd: float | None


class ReplayStepOut(Schema):
    """A step: its context's verdict frame by frame, both retrievals compared, and both answers with their verdict."""

    sequence: int
    kind: Kind
    status: StepStatus
    context: ContextVerdict | None
    frames: list[FrozenFrameOut]
    retrieval: RetrievalCompared | None
    original: RecordedStep
    new: NewStep | None
    verdict: str | None
    evidence: JsonObject | None
    attempts: list[AttemptOut]

    @classmethod
    def of(cls, step: ReplayStep) -> "ReplayStepOut":
        return cls.from_attributes(
            step,
            frames=step.frames or [],
            original=RecordedStep.of(step.action),
            new=NewStep.of(step),
            attempts=sorted(step.attempts.all(), key=lambda each: each.number),
        )


class ReplayStepPage(Page[ReplayStepOut]):
    """Steps of a replay, in the order of the recording."""
