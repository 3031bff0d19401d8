"""What comparisons answer: models over the same contexts, cell by cell and with statistics; and two runs, aligned."""

from typing import Any, Final, Literal, NotRequired

from timemachine.api.answers.replays import ComparisonLaunched, Estimate, ReplayStatus, Waiting
from timemachine.api.answers.shape import Answers, CallUsage, Document, Failed, Page
from timemachine.recording.sessions.pure.vocabulary import Kind, Role


class Arm(Document):
    arm: int
    name: str
    model: str
    system_prompt: NotRequired[str]
    prompt_template: NotRequired[str]
    temperature: NotRequired[float]
    seed: NotRequired[int]
    max_tokens: NotRequired[int]


class AnswerCounts(Document):
    total: int
    finished: int
    answered: int
    waiting: NotRequired[int]
    running: NotRequired[int]
    done: NotRequired[int]
    failed: NotRequired[int]
    skipped: NotRequired[int]
    cancelled: NotRequired[int]
    uncertain: NotRequired[int]


class Judges(Document):
    cells: int
    waiting: int
    asking: int
    busy: Waiting
    cost_usd: float
    unknown_cost_calls: int


class Comparison(Document):
    id: str
    status: ReplayStatus
    reason: str
    requested_by: str
    created_at: str
    arms: list[Arm]
    repeats: int
    noise_floor: bool
    spend_limit_usd: float | None
    over_limit_usd: float | None
    answers: AnswerCounts
    replays: dict[ReplayStatus, int]
    cost_usd: float
    unknown_cost_calls: int
    uncertain_calls: int
    waiting: Waiting
    judges: Judges


class ComparisonPage(Page):
    items: list[Comparison]


class ArmEstimate(Estimate):
    arm: int
    name: str


class ArmEstimates(Document):
    estimates: list[ArmEstimate]


class ReplayOfArm(Document):
    replay_id: str
    session: str
    arm: int
    run: int
    status: ReplayStatus


class ResultsState(Document):
    state: Literal["not_yet", "under_way", "current", "failed"]
    answers: int | None
    computed_at: str | None


class Spread(Document):
    n: int
    total: float | None
    p50: float | None
    p95: float | None


class Interval(Document):
    low: float
    high: float
    method: str


class Column(Document):
    arm: int
    answers: int
    verdicts: dict[str, int]
    missing: dict[str, int]
    cost: Spread
    unknown_cost: int
    latency: Spread
    tokens: Spread
    grounding: float | None
    grounding_interval: Interval | None
    agreement: float | None
    agreement_interval: Interval | None


class PairedResult(Document):
    metric: str
    n: int
    excluded: dict[str, int]
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    interval: Interval | None
    wins: int
    ties: int
    losses: int
    test: str | None
    p: float | None
    p_exact: bool
    sign_p: float | None
    p_holm: float | None
    tests: int
    dz: float | None
    rank_biserial: float | None
    matters: float | None
    needed: int | None
    verdict: str
    pairs: list[list[float]]
    sentence: str


class ArmPair(Document):
    a: int
    b: int
    ratio_of_medians: dict[str, float | None]
    metrics: list[PairedResult]


class Bootstrap(Document):
    resamples: int
    seed: int


class Method(Document):
    unit: str
    difference: str
    interval: str
    bootstrap: Bootstrap
    test: str
    p_holm: str
    latency: str
    verdict: str
    needed: str


class ComparisonWhole(Comparison):
    replay_ids: list[ReplayOfArm]
    asks: int
    results: ResultsState
    columns: list[Column] | None
    pairs: list[ArmPair] | None
    noise: list[ArmPair] | None
    method: Method


class Mark(Document):
    verdict: Literal["equivalent", "contradicts", "better", "worse", "withdrawn"]
    note: str
    by: str
    created_at: str


class OpinionAsked(Document):
    order: str
    relation: str
    preference: str
    reason: str


class OpinionUsage(Document):
    calls: list[CallUsage | None]


class Opinion(Document):
    id: str
    model: str
    state: Literal["waiting", "asking", "done", "failed", "lost", "cancelled"]
    relation: Literal["equivalent", "contradicts", "different", "undecided"] | None
    preference: Literal["better", "worse", "neither", "undecided"] | None
    asked: list[OpinionAsked] | None
    prompt_template: str | None
    usage: OpinionUsage | None
    cost_usd: float | None
    unknown_cost_calls: int
    calls_made: int
    error: Failed | None
    requested_by: str
    created_at: str
    finished_at: str | None


class OpinionWhole(Opinion):
    prompt: Any
    raw_answers: Any


class Cell(Document):
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
    marks: list[Mark]
    opinions: list[Opinion]


class AskCells(Document):
    session: str
    sequence: int
    question: str
    cells: list[Cell]


class AskCellsPage(Page):
    items: list[AskCells]


class ComparisonFile(ComparisonWhole):
    cells: list[AskCells]


class JudgeAsked(Document):
    model: str
    cells: int


class JudgeEstimate(Document):
    model: str
    cells: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    basis: str


class JudgesCancelled(Document):
    cells: int


class Side(Document):
    kind: Literal["session", "replay"]
    id: str
    session: str
    key: str
    name: str
    replay_kind: Literal["audit", "debug", "trial"] | None
    model: str | None
    started_at: str | None
    steps: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    duration_ms: float | None


class SideStep(Document):
    sequence: int
    kind: Kind
    tool: str | None
    name: str | None
    role: Role | None
    label: str
    model: str | None
    error: Any
    answered: bool
    not_asked: str | None
    duration_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class PairOfSteps(Document):
    status: Literal["same", "modified", "moved", "only_left", "only_right", "not_asked"]
    differs_in: list[str]
    moved: int | None
    a: SideStep | None
    b: SideStep | None


class Compared(Page):
    a: Side
    b: Side
    compared: Literal["finds_and_asks", "steps"]
    counts: dict[str, int]
    items: list[PairOfSteps]


_ONE: Final = "/api/comparisons/{comparison_id}"
ANSWERS: Final[Answers] = {
    ("post", "/api/comparisons", 202): ComparisonLaunched,
    ("post", "/api/comparisons/estimate", 200): ArmEstimates,
    ("get", "/api/comparisons", 200): ComparisonPage,
    ("get", _ONE, 200): ComparisonWhole,
    ("get", f"{_ONE}/cells", 200): AskCellsPage,
    ("get", f"{_ONE}/export", 200): ComparisonFile,
    ("post", f"{_ONE}/cancel", 200): Comparison,
    ("post", f"{_ONE}/retry", 202): Comparison,
    ("post", f"{_ONE}/marks", 201): Mark,
    ("post", f"{_ONE}/judgements", 202): JudgeAsked,
    ("get", f"{_ONE}/judgements/estimate", 200): JudgeEstimate,
    ("post", f"{_ONE}/judgements/cancel", 200): JudgesCancelled,
    ("get", f"{_ONE}/judgements/{{opinion_id}}", 200): OpinionWhole,
    ("get", "/api/compare", 200): Compared,
}
