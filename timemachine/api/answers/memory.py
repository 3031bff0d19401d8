"""What remembering answers: weights, compression, summaries, sessions told again, recall, training pairs."""

from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import Field

from timemachine.api.answers.recording import Deleted
from timemachine.api.answers.searching import StepFound
from timemachine.api.answers.shape import (
    OF_SESSION,
    Answers,
    CallUsage,
    Counted,
    Document,
    Failed,
    Page,
    ProfileNamed,
)
from timemachine.recording.annotations.significance.models import Rule
from timemachine.recording.sessions.pure.vocabulary import Kind, Role, Significance, Status


class WeightChange(Document):
    id: str
    sequence: int
    significance: Significance | None
    importance: float | None
    proposal: Rule | None
    by: str
    at: str


class WeightChanges(Page):
    items: list[WeightChange]


class Proposal(Document):
    sequence: int
    rule: Rule
    significance: Significance
    reason: str


class Proposals(Page):
    items: list[Proposal]
    read: int
    recorded: int


class Amount(Document):
    turns: int
    tokens: int


class CompressionChange(Document):
    compressed: bool
    by: str
    by_rule: bool
    at: str


class Compression(Document):
    compressed: bool
    through: int | None
    kept: Amount
    falls: Amount
    estimated: bool
    history: list[CompressionChange]


class Compressed(Document):
    sessions: int
    compressed: bool


class CompressionRule(Document):
    days: int | None
    by: str | None
    at: str | None


class SessionSummary(Document):
    id: str
    collection: str
    frame: int
    version: int
    model: str
    prompt_template: str | None
    through_sequence: int
    steps: list[int]
    unknown_steps: list[int]
    usage: CallUsage | None
    cost_usd: float | None
    prices: dict[str, Any] | None
    by: str
    at: str


class SessionSummaries(Page):
    items: list[SessionSummary]


class SessionTold(Document):
    id: str
    key: str
    name: str
    agent: str | None
    user: str | None
    status: Status
    started_at: str | None
    ended_at: str | None


class TranscriptAsked(Document):
    significance: list[str]
    role: list[str]
    kind: list[str]
    tag: list[str]
    min_importance: float | None
    budget: int | None


class TurnsKept(Document):
    kept: int
    recorded: int


class TokensKept(TurnsKept):
    marks: int
    tokenizer: str
    estimated: bool


class _Head(Document):
    session: SessionTold
    through_sequence: int
    asked: TranscriptAsked
    turns: TurnsKept
    tokens: TokensKept


class Turn(Document):
    sequence: int
    kind: Kind
    role: Role | None
    agent: str | None
    name: str | None
    tool: str | None
    model: str | None
    significance: Significance | None
    importance: float | None
    tags: list[str]
    started_at: str | None
    duration_ms: float | None
    input: Any
    output: Any
    error: Failed | None
    deleted: NotRequired[Deleted]
    left_out_before: int


class Transcript(_Head):
    left_out_after: int
    items: list[Turn]


class ChatMessage(Document):
    role: str
    content: str


class TranscriptMessages(_Head):
    messages: list[ChatMessage]


class SessionNamed(Document):
    id: str
    key: str
    name: str


class TimeRead(Document):
    words: str
    start: int
    end: int
    from_: Annotated[str | None, Field(alias="from")]
    until: str | None
    session: SessionNamed | None
    sessions: list[SessionNamed]
    previous_session: bool
    relation: Literal["within", "before", "after"]


class TimeUnread(Document):
    words: str
    start: int
    end: int
    why: str


class SessionRecalled(SessionNamed):
    agent: str | None
    user: str | None
    status: Status
    started_at: str | None
    turns: int


class TurnAround(Turn):
    cut: bool


class Around(Document):
    items: list[TurnAround]
    left_out_after: int


class TurnRecalled(StepFound):
    session: SessionRecalled
    role: Role | None
    significance: Significance | None
    importance: float | None
    tags: list[str]
    at: str
    around: NotRequired[Around]


class QueryRecalled(Document):
    query: str
    looked_for: str
    times: list[TimeRead]
    unread: list[TimeUnread]
    ranked_by: str
    results: list[TurnRecalled]
    nothing: str | None


class PromptTold(Document):
    turns: int
    sessions: int


class PromptTokens(Document):
    kept: int
    budget: int
    tokenizer: str
    estimated: bool
    least: int | None


class Recollection(Document):
    items: list[QueryRecalled]
    mode: Literal["hybrid", "text", "semantic"]
    embedding_model: str | None
    no_embeddings: str | None
    not_indexed: int
    time_zone: str
    text: NotRequired[str]
    told: NotRequired[PromptTold]
    tokens: NotRequired[PromptTokens]


class TrainingParts(Document):
    train: int
    valid: int
    test: int


class TrainingSplit(Document):
    seed: str
    shares: TrainingParts
    sessions: TrainingParts
    pairs: TrainingParts


class RejectedBy(Document):
    rule: str
    says: str
    pairs: int


class LeftOut(Document):
    reason: str
    says: str
    of: Literal["session", "solution"]
    count: int


class LeftOutStep(Document):
    session: str
    key: str
    name: str
    step: int | None
    reason: str
    says: str


class TrainingPair(Document):
    session: str
    key: str
    part: Literal["train", "valid", "test"]
    solution: int
    steps: list[int]
    rejected_step: int | None
    rule: str | None
    line: dict[str, Any]


class TrainingReport(Document):
    form: Literal["chat", "dpo"]
    what: Literal["resolution", "chain"]
    sessions: int
    unread: int
    split: TrainingSplit
    pairs: int
    rejected_by: list[RejectedBy]
    redaction: ProfileNamed
    withheld: list[Counted]
    deleted_turns: int
    left_out: list[LeftOut]
    first_left_out: list[LeftOutStep]
    first: list[TrainingPair]


_COMPRESSION: Final = f"{OF_SESSION}/compression"
ANSWERS: Final[Answers] = {
    ("get", f"{OF_SESSION}/weights", 200): WeightChanges,
    ("get", f"{OF_SESSION}/proposals", 200): Proposals,
    **{(each, _COMPRESSION, 200): Compression for each in ("get", "post", "delete")},
    ("post", "/api/compressions", 200): Compressed,
    ("get", "/api/compressions/rule", 200): CompressionRule,
    ("put", "/api/compressions/rule", 200): CompressionRule,
    ("get", f"{OF_SESSION}/summaries", 200): SessionSummaries,
    ("post", f"{OF_SESSION}/summaries", 201): SessionSummary,
    ("get", f"{OF_SESSION}/transcript", 200): Transcript | TranscriptMessages,
    ("post", "/api/recall", 200): Recollection,
    ("get", "/api/training/report", 200): TrainingReport,
}
