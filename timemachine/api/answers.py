"""What recording answers, field by field: the OpenAPI document names them, and the tests hold every answer to them.

Answers are written as they are, nothing is read through these: a field that is missing here, or there, fails a test.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal, NotRequired, TypedDict

from pydantic import ConfigDict, TypeAdapter, with_config

from timemachine.recording.vocabulary import Kind, Layer, Role, Significance, Status

_exactly = with_config(ConfigDict(extra="forbid"))


@_exactly
class Parent(TypedDict):
    session: str
    sequence: int | None


@_exactly
class Session(TypedDict):
    id: str
    key: str
    name: str
    agent: str | None
    user: str | None
    collection: str | None
    status: Status
    parent: Parent | None
    metadata: dict[str, Any]
    tags: list[str]
    created_at: str
    created_by: str
    started_at: str
    ended_at: str | None
    imported_as: str | None
    actions: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float
    unknown_cost_calls: int
    cached_calls: int
    saved_usd: float
    unknown_saved_calls: int
    url: str


class Branch(Session):
    depth: int


@_exactly
class Branches(TypedDict):
    items: list[Branch]
    complete: bool


@_exactly
class Failure(TypedDict):
    type: str | None
    message: str | None


@_exactly
class Usage(TypedDict):
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None


@_exactly
class Hit(TypedDict):
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


class _Looked(TypedDict):
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


@_exactly
class Retrieval(_Looked):
    pass


@_exactly
class Found(_Looked):
    empty: dict[str, str | None] | None
    sequence: int | None


@_exactly
class Answered(_Looked):
    answer: str | None
    model: str
    parameters: dict[str, Any]
    finish_reason: str | None
    cut_off: bool
    refused: bool
    usage: Usage | None
    cost_usd: float | None
    prices: dict[str, Any] | None
    grounding: dict[str, Any] | None
    cached: bool
    saved_usd: float | None
    cached_from: dict[str, Any] | None
    duration_ms: float | None
    empty: dict[str, str | None] | None
    sequence: int | None


@_exactly
class Recorded(TypedDict):
    significance: Significance | None
    importance: float | None


@_exactly
class Weighed(TypedDict):
    by: str | None
    at: str | None
    compressed: bool


@_exactly
class ErasedField(TypedDict):
    field: str
    erased_at: str
    erased_by: str | None
    reason: str | None
    commitment: str | None
    log_index: int | None


@_exactly
class Deleted(TypedDict):
    at: str
    by: str | None
    reason: str | None


@_exactly
class Action(TypedDict):
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
    error: Failure | None
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


@_exactly
class Appended(TypedDict):
    sequences: list[int]
    differing: NotRequired[list[int]]


@_exactly
class PutFrame(TypedDict):
    frame: int
    version: int
    sha256: str
    title: str
    already_there: bool


@_exactly
class Put(TypedDict):
    frames: list[PutFrame]
    sequences: list[int]


@_exactly
class Checkpoint(TypedDict):
    sequence: int
    name: str


@_exactly
class CheckpointOf(TypedDict):
    sequence: int
    name: str | None
    at: str | None


@_exactly
class Resumed(TypedDict):
    messages: Any
    system_prompt: Any
    working_directory: Any
    tools: Any
    last_query: Any
    last_result: Any
    model: Any
    environment: Any
    checkpoint: CheckpointOf
    parent: Parent
    more: dict[str, Any]


@_exactly
class Judged(TypedDict):
    count: int
    cost_usd: float
    unknown_cost_calls: int


@_exactly
class Summary(TypedDict):
    session: str
    actions: int
    kinds: dict[Kind, int]
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float
    unknown_cost_calls: int
    cached_calls: int
    saved_usd: float | None
    unknown_saved_calls: int
    started_at: str | None
    ended_at: str | None
    duration_ms: float | None
    max_iteration: int | None
    tools: dict[str, int]
    models: dict[str, int]
    judgements: Judged
    notes: int


@_exactly
class Said(TypedDict):
    sequence: int
    role: Role | None
    content: Any


@_exactly
class State(TypedDict):
    at: int
    as_of: str
    messages: list[Said]
    frames_used: list[dict[str, Any]]
    frames_existed: int | None
    totals: dict[str, Any]


@_exactly
class Imported(TypedDict):
    id: str
    key: str
    name: str
    url: str
    actions: int
    already_there: int


@_exactly
class Skipped(TypedDict):
    line: int
    reason: str


@_exactly
class Report(TypedDict):
    lines: int
    became: dict[Kind, int]
    skipped: list[Skipped]
    notes: list[str]


@_exactly
class Import(TypedDict):
    sessions: list[Imported]
    report: Report


@_exactly
class HandedIn(TypedDict):
    import_id: str


@_exactly
class Refused(TypedDict):
    code: str
    message: str


@_exactly
class ImportKept(TypedDict):
    import_id: str
    name: str
    format: str
    status: Literal["waiting", "running", "done", "failed"]
    done: int
    total: int | None
    error: Refused | None
    sessions: list[Imported]
    report: Report | None


@_exactly
class SessionPage(TypedDict):
    items: list[Session]
    next: str | None


@_exactly
class ActionPage(TypedDict):
    items: list[Action]
    next: str | None


_OF: Final = "/api/sessions/{session_id}"
ANSWERS: Final[dict[tuple[str, str, int], Any]] = {
    ("get", "/api/sessions", 200): SessionPage,
    ("post", "/api/sessions", 201): Session,
    ("get", _OF, 200): Session,
    ("patch", _OF, 200): Session,
    ("post", f"{_OF}/end", 200): Session,
    ("get", f"{_OF}/branches", 200): Branches,
    ("get", f"{_OF}/actions", 200): ActionPage,
    ("post", f"{_OF}/actions", 201): Appended,
    ("get", f"{_OF}/actions/{{sequence}}", 200): Action,
    ("post", f"{_OF}/put", 201): Put,
    ("post", f"{_OF}/find", 200): Found,
    ("post", f"{_OF}/ask", 200): Answered,
    ("get", f"{_OF}/checkpoints", 200): ActionPage,
    ("post", f"{_OF}/checkpoints", 201): Checkpoint,
    ("post", f"{_OF}/resume", 200): Resumed,
    ("get", f"{_OF}/state", 200): State,
    ("get", f"{_OF}/summary", 200): Summary,
    ("post", "/api/import", 201): Import,
    ("post", "/api/import", 202): HandedIn,
    ("get", "/api/imports/{import_id}", 200): ImportKept,
    ("post", "/api/collections/{name}/find", 200): Found,
    ("post", "/api/collections/{name}/ask", 200): Answered,
}
"""By method, path and status."""


def schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    """All that is named above as JSON Schema, by the name that refers to it in the document."""
    named = {each.__name__: each for each in ANSWERS.values()}
    inputs = [(name, "serialization", TypeAdapter(each)) for name, each in named.items()]
    _, found = TypeAdapter.json_schemas(inputs, ref_template=f"#/components/schemas/{PREFIX}{{model}}")  # type: ignore[arg-type]  # a list of such
    yield from ((f"{PREFIX}{name}", each) for name, each in found["$defs"].items())


PREFIX: Final = "Answer"
