"""What a session answers: itself, what it adds up to, what was known at a step, what to go on with, its notes."""

from typing import Any, Final, Literal

from timemachine.api.answers.shape import OF_SESSION, Answers, Document, Page
from timemachine.recording.sessions.pure.vocabulary import Kind, Role, Status


class Parent(Document):
    session: str
    sequence: int | None


class ParentDeleted(Document):
    session: str | None
    sequence: int | None


class ParentAwaited(Document):
    key: str
    sequence: int | None


class Session(Document):
    id: str
    key: str
    name: str
    agent: str | None
    user: str | None
    collection: str | None
    status: Status
    parent: Parent | None
    parent_deleted: ParentDeleted | None
    parent_awaited: ParentAwaited | None
    metadata: dict[str, Any]
    tags: list[str]
    created_at: str
    created_by: str
    started_at: str | None
    ended_at: str | None
    imported_as: str | None
    actions: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    cached_calls: int
    saved_usd: float | None
    unknown_saved_calls: int
    url: str


class SessionPage(Page):
    items: list[Session]


class Branch(Session):
    depth: int


class Branches(Document):
    items: list[Branch]
    complete: bool


class StaysAs(Document):
    collection: str
    frame: int


class SessionErased(Document):
    erased: str
    actions: int
    branches: int
    summaries: list[StaysAs]


class CheckpointOf(Document):
    sequence: int
    name: str | None
    at: str | None


class Resumed(Document):
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


class Judged(Document):
    count: int
    cost_usd: float
    unknown_cost_calls: int


class Summary(Document):
    session: str
    actions: int
    kinds: dict[Kind, int]
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    cached_calls: int
    saved_usd: float | None
    unknown_saved_calls: int
    started_at: str | None
    ended_at: str | None
    duration_ms: float | None
    first_step_at: str | None
    last_step_ended_at: str | None
    steps_ms: float | None
    max_iteration: int | None
    tools: dict[str, int]
    models: dict[str, int]
    judgements: Judged
    notes: int


class Said(Document):
    sequence: int
    role: Role | None
    content: Any


class FrameUsed(Document):
    frame: int | str | None
    version: int | None
    title: str | None
    first_used: int


class StateTotals(Document):
    kinds: dict[Kind, int]
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    cached_calls: int
    saved_usd: float | None
    unknown_saved_calls: int
    first: str | None
    last: str | None


class State(Document):
    at: int
    as_of: str
    messages: list[Said]
    frames_used: list[FrameUsed]
    frames_existed: int | None
    totals: StateTotals


class Sums(Document):
    actions: int
    timed_actions: int
    duration_ms: float | None
    calls: int
    tool_calls: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int


class _Line(Sums):
    share: float | None
    filter: str | None


class KindLine(_Line):
    kind: Kind | None


class ToolLine(_Line):
    tool: str | None


class ModelLine(_Line):
    model: str | None


class AgentLine(_Line):
    agent: str | None


class Totals(Page):
    session: str
    by: Literal["kind", "tool", "model", "agent"]
    filter: str
    totals: Sums
    items: list[KindLine] | list[ToolLine] | list[ModelLine] | list[AgentLine]


ANSWERS: Final[Answers] = {
    ("get", "/api/sessions", 200): SessionPage,
    ("post", "/api/sessions", 201): Session,
    ("get", OF_SESSION, 200): Session,
    ("patch", OF_SESSION, 200): Session,
    ("delete", OF_SESSION, 200): SessionErased,
    ("post", f"{OF_SESSION}/end", 200): Session,
    ("get", f"{OF_SESSION}/branches", 200): Branches,
    ("post", f"{OF_SESSION}/resume", 200): Resumed,
    ("get", f"{OF_SESSION}/state", 200): State,
    ("get", f"{OF_SESSION}/summary", 200): Summary,
    ("get", f"{OF_SESSION}/totals", 200): Totals,
}
