"""What replays answer: how far they are, their steps, what was tried at a step, where a frame stands, sweeps."""

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import Field

from timemachine.api.answers.recording import Hit
from timemachine.api.answers.shape import OF_SESSION, Answers, Document, Failed, Kept, Page, Usage
from timemachine.recording.sessions.pure.vocabulary import Kind

type ReplayStatus = Literal["queued", "running", "done", "failed", "cancelled"]
type StepStatus = Literal["waiting", "running", "done", "failed", "skipped", "cancelled", "uncertain"]
type Context = Literal["verified", "altered", "missing", "not_recorded"]


class ReplayOptions(Kept, total=False):
    """What was asked for; what is not there is as it was recorded."""

    audit: bool
    reason: str
    use_model: str
    system_prompt: str
    prompt_template: str
    temperature: float
    seed: int
    max_tokens: int
    top_k: int
    search_mode: str
    adaptive: bool
    min_score: float
    relative: float
    cliff: float
    embedding_model: str
    as_of: Literal["now", "recorded"]
    skip_asks: bool
    skip_finds: bool
    after_sequence: int
    through_sequence: int
    spend_limit_usd: float
    step: int
    question: str
    frames: list[int | str]


class StepCounts(Document):
    total: int
    done: int
    failed: int
    skipped: int
    cancelled: int


class ContextCounts(Document):
    verified: int
    altered: int
    missing: int
    not_recorded: int


class Waiting(Document):
    calls: int
    until: str | None


class FrequentError(Document):
    message: str
    steps: int


class Replay(Document):
    id: str
    session: str
    kind: Literal["audit", "debug", "trial"]
    model: str | None
    status: ReplayStatus
    cancel_requested: bool
    cancel_requested_at: str | None
    cancel_requested_by: str | None
    options: ReplayOptions
    reason: str | None
    requested_by: str
    created_at: str
    started_at: str | None
    finished_at: str | None
    steps: StepCounts
    context: ContextCounts
    retrieval: dict[str, int]
    verdicts: dict[str, int]
    cost_usd: float
    unknown_cost_calls: int
    recorded_cost_usd: float
    recorded_unknown_cost_calls: int
    waiting: Waiting
    over_limit_usd: float | None
    uncertain_calls: int
    most_frequent_error: FrequentError | None
    summary: str


class ReplayPage(Page):
    items: list[Replay]


class ReplayLaunched(Document):
    replay_id: str


class ComparisonLaunched(Document):
    comparison_id: str
    replay_ids: list[str]


class Estimate(Document):
    model: str | None
    asks: int
    cost_usd: float
    unknown_cost_calls: int
    guessed_asks: int


class Estimates(Document):
    estimates: list[Estimate]


class FrozenFrame(Document):
    rank: int
    frame: int | str | None
    version: int | None
    verdict: Context
    since: str | None
    sha256: str | None
    sha256_now: str | None


class FrameMoved(Document):
    frame: int | str
    from_: Annotated[int, Field(alias="from")]
    to: int


class RetrievalCompared(Document):
    """What is found beside what was recorded; how it was looked for stands there unless the passages were chosen by hand."""

    verdict: Literal["same", "reordered", "changed"]
    gained: list[int | str]
    lost: list[int | str]
    moved: list[FrameMoved]
    k: int
    overlap: float | None
    rank_biased_overlap: float | None
    rank_biased_depth: int | None
    persistence: float
    mode: str
    as_of: str | None
    recorded_hits: int
    found_hits: int
    top_k: NotRequired[int]
    adaptive: NotRequired[bool]
    thresholds: NotRequired[dict[str, Any] | None]
    min_score: NotRequired[float | None]
    cut_by: NotRequired[str]
    curve: NotRequired[dict[str, Any]]
    below: NotRequired[dict[str, Any] | None]
    embedding_model: NotRequired[str | None]
    semantic_search: NotRequired[str | None]
    not_embedded: NotRequired[int | None]


class StepRecorded(Document):
    input: Any
    output: Any
    model: str | None
    parameters: dict[str, Any] | None
    usage: Usage | None
    cost_usd: float | None
    duration_ms: float | None
    grounding: dict[str, Any] | None
    retrieval: dict[str, Any] | None


class StepNew(Document):
    output: Any
    model: str | None
    parameters: dict[str, Any] | None
    usage: Usage | None
    cost_usd: float | None
    prices: dict[str, Any] | None
    duration_ms: float | None
    grounding: dict[str, Any] | None
    hits: list[Hit]
    error: Failed | None


class Attempt(Document):
    number: int
    worker: str
    started_at: str
    call_intended_at: str | None
    finished_at: str | None
    outcome: str | None
    calls_made: int | None
    cost_usd: float | None


class ReplayStep(Document):
    sequence: int
    kind: Kind
    status: StepStatus
    context: Context | None
    frames: list[FrozenFrame]
    retrieval: RetrievalCompared | None
    original: StepRecorded
    new: StepNew | None
    verdict: str | None
    evidence: dict[str, Any] | None
    attempts: list[Attempt]


class ReplayStepPage(Page):
    items: list[ReplayStep]


class FrameLookedFor(Document):
    frame: int
    title: str | None
    by: Literal["named", "holds", "nearest"]
    versions: list[int] | None
    says: str


class FramePlaced(Document):
    rank: int | None
    of: int
    score: float | None
    by_top_k: bool
    by_adaptive: bool


class FrameStanding(Document):
    version: int
    hybrid: NotRequired[FramePlaced]
    semantic: NotRequired[FramePlaced]
    lexical: NotRequired[FramePlaced]


class Whereabouts(Document):
    frame: int
    recorded_rank: int | None
    as_recorded: FrameStanding | None
    as_now: FrameStanding | None
    says: str


class StepWhere(Document):
    sequence: int
    kind: Kind
    query: str | None
    mode: str | None
    top_k: int | None
    adaptive: bool | None
    frames: list[Whereabouts]
    error: str | None


class Where(Document):
    """Where frames stand; `next` is the step to go on after, null at the end."""

    frames: list[FrameLookedFor]
    items: list[StepWhere]
    next: int | None


class Grid(Document):
    modes: list[str]
    top_k: list[int]
    adaptive: list[bool]
    embedding_models: list[str]
    as_of: Literal["recorded", "now"]


class SweepSettings(Document):
    total: int
    finished: int


class SweepResult(Document):
    steps: int
    hits: int
    tokens: int
    tokens_per_step: float | None
    grounded_frames: int
    grounded_found: int
    recall: float | None
    overlap: float | None
    rank_biased_overlap: float | None
    left_out: int


class SweepRow(Document):
    mode: str
    top_k: int
    adaptive: bool
    embedding_model: str | None
    number: int
    status: Literal["waiting", "running", "done", "failed", "cancelled"]
    result: SweepResult | None
    error: str | None


class Sweep(Document):
    id: str
    session: str
    status: ReplayStatus
    grid: Grid
    steps: int
    tokenizer: str
    requested_by: str
    created_at: str
    finished_at: str | None
    settings: SweepSettings
    rows: list[SweepRow]


class SweepPage(Page):
    items: list[Sweep]


class SweepLaunched(Document):
    sweep_id: str


_TRIALS: Final = f"{OF_SESSION}/actions/{{sequence}}/trials"
_ONE: Final = "/api/replays/{replay_id}"
ANSWERS: Final[Answers] = {
    ("post", f"{OF_SESSION}/replays", 202): ReplayLaunched | ComparisonLaunched,
    ("post", f"{OF_SESSION}/replays/estimate", 200): Estimates,
    ("get", "/api/replays", 200): ReplayPage,
    ("get", _ONE, 200): Replay,
    ("get", f"{_ONE}/steps", 200): ReplayStepPage,
    ("get", f"{_ONE}/steps/{{sequence}}", 200): ReplayStep,
    ("post", f"{_ONE}/cancel", 200): Replay,
    ("post", f"{_ONE}/retry", 202): Replay,
    ("post", _TRIALS, 202): ReplayLaunched,
    ("get", _TRIALS, 200): ReplayPage,
    ("get", f"{OF_SESSION}/where", 200): Where,
    ("post", f"{OF_SESSION}/sweeps", 202): SweepLaunched,
    ("get", f"{OF_SESSION}/sweeps", 200): SweepPage,
    ("get", "/api/sweeps/{sweep_id}", 200): Sweep,
    ("post", "/api/sweeps/{sweep_id}/cancel", 200): Sweep,
}
