"""Actions as the API returns them: every field by its name, what was not recorded as null."""

from collections.abc import Sequence
from typing import Any, Final, Self, cast

from django.db.models import Prefetch, QuerySet

from timemachine.core.payloads import queries as payloads
from timemachine.core.pure.clock import written
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import dollars
from timemachine.core.pure.schemas import Page, Schema
from timemachine.llm.schemas import FailureOut, UsageOut
from timemachine.recording.annotations.significance.queries import UNCOMPRESSED, InForce, in_force
from timemachine.recording.sessions.models import Action, FrozenPassage, Hit, Session
from timemachine.recording.sessions.pure.vocabulary import Kind, Layer, Role, Significance
from timemachine.recording.sessions.queries import action_of


class HitOut(Schema):
    """A passage that a step retrieved, as it was then."""

    rank: int
    score: float | None
    scores: dict[str, float] | None
    frame: int | str | None
    version: int | None
    title: str | None
    uri: str | None
    metadata: JsonObject | None
    sha256: str | None
    text: str | None
    matched: JsonObject | None

    @classmethod
    def of(cls, hit: FrozenPassage) -> "HitOut":
        return cls.model_construct(
            rank=hit.rank,
            score=hit.score,
            scores=hit.scores,
            frame=hit.frame,
            version=hit.version,
            title=hit.title,
            uri=hit.uri,
            metadata=hit.metadata,
            sha256=hit.sha256,
            text=payloads.value(hit.payload),
            matched=hit.matched,
        )


class RetrievalOut(Schema):
    """The passages that a step retrieved, and how; null where that was not recorded."""

    collection: str | None
    mode: str | None
    top_k: int | None
    adaptive: bool | None
    cut_by: str | None
    as_of: str | None
    embedding_model: str | None
    semantic_search: str | None
    curve: JsonObject | None
    below: JsonObject | None
    not_embedded: int | None
    thresholds: JsonObject | None
    min_score: float | None
    hits: list[HitOut]


class SignificanceRecorded(Schema):
    """The significance and importance that were recorded, where others are in force."""

    significance: Significance | None
    importance: float | None


class SignificanceChanged(Schema):
    """Who changed a step's significance or importance and when, both null where only its session was compressed."""

    by: str | None
    at: str | None
    compressed: bool


class FieldErased(Schema):
    """A field whose content was erased, by the name that its seal has for it.

    `commitment` is the hash that it was sealed under, null where it was not sealed yet.
    """

    field: str
    erased_at: str
    erased_by: str | None
    reason: str | None
    commitment: str | None
    log_index: int | None


class TurnDeleted(Schema):
    """When, by whom and why a step was deleted."""

    at: str
    by: str
    reason: str


class CopiedFromOut(Schema):
    """The session by its key, and the step in it by its id or sequence, that a step was copied from; null if unknown."""

    session: str | None
    step: int | str | None

    @classmethod
    def of(cls, recorded: JsonObject | None) -> "CopiedFromOut | None":
        """Return what was recorded; None for a step that happened in its session."""
        return (
            None
            if recorded is None
            else cls.model_construct(session=recorded["session"], step=recorded["step"])
        )


class ActionOut(Schema):
    """One step of a session. Times are RFC 3339, money is US dollars as a number.

    `parent` is what the client gave: its own id, or a sequence. `significance` and `importance` are those in force.
    """

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
    copied_from: CopiedFromOut | None
    significance: Significance | None
    importance: float | None
    iteration: int | None
    tags: list[str]
    metadata: JsonObject | None
    started_at: str | None
    duration_ms: float | None
    input: Any
    output: Any
    error: FailureOut | None
    model: str | None
    parameters: JsonObject | None
    usage: UsageOut | None
    cost_usd: float | None
    prices: JsonObject | None
    cached: bool | None
    saved_usd: float | None
    cached_from: JsonObject | None
    grounding: JsonObject | None
    retrieval: RetrievalOut | None
    source: Any = None  # the record of another tool that it was imported from; absent otherwise
    recorded: SignificanceRecorded | None = None  # absent where what was recorded is in force
    weighed: SignificanceChanged | None = None  # absent where what was recorded is in force
    erased: list[FieldErased] | None = None  # absent where nothing was erased
    deleted: TurnDeleted | None = None  # absent unless the step was deleted

    @classmethod
    def of(cls, action: Action) -> "ActionOut":
        """The action as it was recorded; read it by `with_everything`."""
        parent = action.parent_id_given
        failed = action.error_type is not None or action.error_message is not None
        source = {} if action.source is None else {"source": payloads.value(action.source)}
        return cls.model_construct(
            sequence=action.sequence,
            id=action.client_id,
            kind=cast("Kind", action.kind),
            layer=cast("Layer | None", action.layer),
            role=cast("Role | None", action.role),
            agent=action.agent,
            name=action.name,
            tool=action.tool,
            call_id=action.call_id,
            parent=action.parent_sequence if parent is None else parent,
            copied_from=CopiedFromOut.of(action.copied_from),
            significance=cast("Significance | None", action.significance),
            importance=action.importance,
            iteration=action.iteration,
            tags=action.tags,
            metadata=action.metadata,
            started_at=written(action.started_at),
            duration_ms=action.duration_ms,
            input=payloads.value(action.input),
            output=payloads.value(action.output),
            error=FailureOut.model_construct(type=action.error_type, message=action.error_message)
            if failed
            else None,
            model=action.model,
            parameters=action.parameters,
            usage=UsageOut.of(action),
            cost_usd=dollars(action.cost_usd),
            prices=action.prices,
            cached=action.cached,
            saved_usd=dollars(action.saved_usd),
            cached_from=action.cached_from,
            grounding=action.grounding,
            retrieval=_retrieval(action),
            **source,
        )

    def in_force(self, now: InForce) -> Self:
        """The same with the significance and importance in force, and with what was recorded."""
        return self.model_copy(
            update={
                "significance": now.significance,
                "importance": now.importance,
                "recorded": SignificanceRecorded.from_attributes(self),
                "weighed": SignificanceChanged.from_attributes(now),
            }
        )


class ReadAction(ActionOut):
    """One step of a session. `label` is one line that names it, made from what was recorded: of a model call, the tools
    that the model called and its words."""

    label: str

    @classmethod
    def of(cls, action: Action) -> "ReadAction":
        """The action as it was recorded; read it by `with_everything`."""
        return cast("ReadAction", super().of(action).model_copy(update={"label": action.label}))


class ActionPage(Page[ReadAction]):
    """Actions of a session in their order."""


class AppendedOut(Schema):
    """The sequences of the actions that were sent, in their order."""

    sequences: list[int]
    differing: list[int] | None = None
    """The places in the request, from 0, of actions whose id belongs to another action; absent where there are none."""


def with_everything(actions: QuerySet[Action]) -> QuerySet[Action]:
    """Return the actions with everything that `ActionOut.of` reads: two queries for any number."""
    hits = Prefetch("hits", Hit.objects.select_related("payload").order_by("rank"))
    return actions.select_related("input", "output", "source").prefetch_related(hits)


def action_out(session: Session, sequence: int) -> ActionOut:
    """Return the session's action with that sequence as it was recorded. Raises `NotFound`."""
    action = action_of(session, sequence)
    return ActionOut.of(with_everything(session.actions.filter(sequence=action.sequence)).get())


def with_significance[A: ActionOut](session: Session, actions: Sequence[A]) -> list[A]:
    """Return the actions with their effective significance and importance. One query.

    If these differ from the record, `recorded` has the recorded values, and `weighed` who changed them and when, or
    that the session was compressed.
    """
    changed = in_force(session, [each.sequence for each in actions])
    found = []
    for action in actions:
        now = changed.get(action.sequence)
        is_recorded = now is None or (now.by is None and action.significance in UNCOMPRESSED)
        found.append(action if now is None or is_recorded else action.in_force(now))
    return found


def _retrieval(action: Action) -> RetrievalOut | None:
    hits = [HitOut.of(hit) for hit in action.hits.all()]
    if action.retrieval is None and not hits:
        return None
    recorded = action.retrieval or {}
    return RetrievalOut.model_construct(**{name: recorded.get(name) for name in _HOW}, hits=hits)


_HOW: Final = tuple(name for name in RetrievalOut.model_fields if name != "hits")
