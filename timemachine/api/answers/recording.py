"""What recording answers: actions, where they are appended, read and weighed, and checkpoints."""

from typing import Any, Final, NotRequired

from timemachine.api.answers.shape import OF_SESSION, Answers, Document, Failed, Page, Usage
from timemachine.recording.sessions.pure.vocabulary import Kind, Layer, Role, Significance


class Hit(Document):
    rank: int
    score: float | None
    scores: dict[str, float] | None
    frame: int | str | None
    version: int | None
    title: str | None
    uri: str | None
    metadata: dict[str, Any] | None
    sha256: str | None
    text: str | None
    matched: dict[str, Any] | None


class Retrieval(Document):
    mode: str | None
    top_k: int | None
    adaptive: bool | None
    cut_by: str | None
    as_of: str | None
    embedding_model: str | None
    semantic_search: str | None
    curve: dict[str, Any] | None
    below: dict[str, Any] | None
    not_embedded: int | None
    thresholds: dict[str, Any] | None
    min_score: float | None
    hits: list[Hit]


class Recorded(Document):
    significance: Significance | None
    importance: float | None


class Weighed(Document):
    by: str | None
    at: str | None
    compressed: bool


class ErasedField(Document):
    field: str
    erased_at: str
    erased_by: str | None
    reason: str | None
    commitment: str | None
    log_index: int | None


class Deleted(Document):
    at: str
    by: str
    reason: str


class Action(Document):
    sequence: int
    id: str | None
    kind: Kind
    layer: Layer | None
    role: Role | None
    agent: str | None
    name: str | None
    tool: str | None
    call_id: str | None
    parent: int | str | None
    significance: Significance | None
    importance: float | None
    iteration: int | None
    tags: list[str]
    started_at: str | None
    duration_ms: float | None
    input: Any
    output: Any
    error: Failed | None
    model: str | None
    parameters: dict[str, Any] | None
    usage: Usage | None
    cost_usd: float | None
    prices: dict[str, Any] | None
    cached: bool | None
    saved_usd: float | None
    cached_from: dict[str, Any] | None
    grounding: dict[str, Any] | None
    retrieval: Retrieval | None
    source: NotRequired[Any]
    recorded: NotRequired[Recorded]
    weighed: NotRequired[Weighed]
    erased: NotRequired[list[ErasedField]]
    deleted: NotRequired[Deleted]


class ActionPage(Page):
    items: list[Action]


class Appended(Document):
    sequences: list[int]
    differing: NotRequired[list[int]]


class Checkpoint(Document):
    sequence: int
    name: str


_ACTION: Final = f"{OF_SESSION}/actions/{{sequence}}"
ANSWERS: Final[Answers] = {
    ("get", f"{OF_SESSION}/actions", 200): ActionPage,
    ("post", f"{OF_SESSION}/actions", 201): Appended,
    ("get", _ACTION, 200): Action,
    ("patch", _ACTION, 200): Action,
    ("post", f"{OF_SESSION}/proposals", 200): Action,
    ("get", f"{OF_SESSION}/checkpoints", 200): ActionPage,
    ("post", f"{OF_SESSION}/checkpoints", 201): Checkpoint,
}
