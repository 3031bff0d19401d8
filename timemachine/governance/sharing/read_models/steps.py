"""A recorded step as a visitor sees it: its fields, its payloads, its passages, and the steps around it."""

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from timemachine.core.payloads.models import Payload
from timemachine.core.pure.content import content_of
from timemachine.core.pure.json_types import JsonObject
from timemachine.governance.sharing.pure.link_rules import is_maker
from timemachine.governance.sharing.read_models import shown_of
from timemachine.governance.sharing.read_models.rows import SharedRow
from timemachine.recording.sessions.models import Action, FrozenPassage
from timemachine.recording.sessions.pure.draft import copy_of
from timemachine.recording.timeline.schemas.actions import ActionOut
from timemachine.recording.timeline.step import Head, Step
from timemachine.text.redaction.pure.marks import FIELD, HASH, mark
from timemachine.text.redaction.pure.projection import error_of

DOCUMENT: Final = (
    "sequence",
    "id",
    "kind",
    "layer",
    "role",
    "agent",
    "name",
    "tool",
    "call_id",
    "parent",
    "copied_from",
    "significance",
    "importance",
    "iteration",
    "tags",
    "metadata",
    "started_at",
    "duration_ms",
    "input",
    "output",
    "error",
    "model",
    "parameters",
    "usage",
    "cost_usd",
    "prices",
    "cached",
    "saved_usd",
    "cached_from",
    "grounding",
    "retrieval",
    "source",
)
"""The fields of a recorded step that a link shows as JSON. A field that the API gains is not among them before it is added here."""
RETRIEVAL: Final = (
    "mode",
    "top_k",
    "adaptive",
    "cut_by",
    "as_of",
    "embedding_model",
    "semantic_search",
    "curve",
    "below",
    "not_embedded",
    "thresholds",
    "min_score",
)
HIT: Final = (
    "rank",
    "score",
    "scores",
    "frame",
    "version",
    "title",
    "uri",
    "metadata",
    "sha256",
    "text",
    "matched",
)
WITHHELD_HIT: Final = {"title": mark(FIELD), "text": mark(FIELD), "sha256": mark(HASH)}
_WITHHELD: Final = {"withheld": mark(FIELD)}
_WORDS: Final = (
    "agent",
    "name",
    "tool",
    "call_id",
    "tags",
    "metadata",
    "model",
    "parameters",
    "prices",
    "grounding",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedHit:
    """A passage that was frozen with a step, without its text."""

    rank: int
    score: float | None
    scores: Mapping[str, Any] | None
    frame: Any
    version: int | None
    title: str | None
    uri: str | None
    metadata: Mapping[str, Any] | None
    sha256: str | None
    matched: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPassage:
    """A frozen passage with the beginning of its text; None if no text was recorded."""

    hit: SharedHit
    text: Head | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAction:
    """The fields of a recorded step. Nothing in it names who had it recorded."""

    sequence: int
    kind: str
    layer: str | None
    role: str | None
    agent: str | None
    name: str | None
    tool: str | None
    client_id: str | None
    call_id: str | None
    parent_id_given: str | None
    parent_sequence: int | None
    is_copied: bool
    significance: str | None
    importance: float | None
    iteration: int | None
    tags: Sequence[str]
    metadata: Any
    started_at: datetime | None
    recorded_at: datetime
    duration_ms: float | None
    error_type: str | None
    error_message: str | None
    model: str | None
    parameters: Any
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: Decimal | None
    prices: Any
    cached: bool | None
    saved_usd: Decimal | None
    grounding: Any
    retrieval: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOrigin:
    """The ask that a cached answer was first given to. `session` is only set if it is the same session."""

    session: UUID | None
    sequence: int | None
    outside: bool
    erased: bool
    at: datetime | None
    call_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStep:
    """One step with the beginnings of its payloads, its passages, and the shown steps above and inside it."""

    session: UUID
    action: SharedAction
    input: Head | None
    output: Head | None
    source: Head | None
    passages: Sequence[SharedPassage]
    parent: SharedRow | None
    children: Sequence[SharedRow]
    origin: SharedOrigin | None

    @property
    def failed(self) -> bool:
        return self.action.error_type is not None or self.action.error_message is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPayload:
    """The bytes of a payload of which nothing is withheld."""

    sha256: str
    media_type: str
    data: bytes


def shared_payload(payload: Payload) -> SharedPayload:
    """Return a payload with all of its bytes."""
    return shown_of(SharedPayload, payload, data=payload.data)


def recorded_document(action: Action, session: UUID) -> JsonObject:
    """Return the fields of a recorded step that a link may show, in the form of the API and before redaction.

    The agent is withheld if it is a key or a person's address. A copied step and a cached answer name no other session.
    """
    recorded = ActionOut.of(action).model_dump()
    shown: JsonObject = {name: recorded[name] for name in DOCUMENT if name in recorded}
    return shown | {
        "agent": _agent(action),
        "copied_from": None if action.copied_from is None else copy_of(),
        "cached_from": cached_from(action, session),
        "retrieval": _shown_retrieval(recorded["retrieval"]),
    }


def cached_from(action: Action, session: UUID) -> JsonObject | None:
    """Return the ask that a cached answer came from, without naming another session."""
    origin = action.cached_from
    if origin is None or origin.get("session") == str(session):
        return origin
    return {name: value for name, value in origin.items() if name not in {"session", "sequence"}}


def shared_action(action: Action, document: Mapping[str, Any] | None, *, has_parent: bool) -> SharedAction:
    """Return the fields of an action. `document` is its redacted document; None if nothing is withheld.

    Without a parent that the link shows, the step does not tell that it has one.
    """
    words = (
        {"agent": _agent(action), "retrieval": shown_of_retrieval(action, action.retrieval)}
        if document is None
        else _redacted_words(action, document)
    )
    if not has_parent:
        words |= {"parent_id_given": None, "parent_sequence": None}
    return shown_of(SharedAction, action, **words)


def shared_hit(hit: FrozenPassage, document: Mapping[str, Any]) -> SharedHit:
    """Return a passage from its `document`: what remains in its redacted step, or its own fields."""
    score = document.get("score")
    return SharedHit(
        **{name: document.get(name) for name in ("frame", "version", "title", "uri", "sha256", "matched")},
        rank=hit.rank,
        score=score if isinstance(score, int | float) else None,
        scores=_mapping(document.get("scores")),
        metadata=_mapping(document.get("metadata")),
    )


def shared_passages(
    found: Step, before: Mapping[str, Any], after: Mapping[str, Any], first_bytes: int
) -> list[SharedPassage]:
    """Return the passages of a step, from its documents before and after redaction."""
    texts = zip(found.passages, hits_in(before), hits_in(after, len(found.passages)), strict=True)
    return [
        SharedPassage(
            hit=shared_hit(each.hit, redacted),
            text=shared_head(each.text, recorded.get("text"), redacted.get("text"), first_bytes),
        )
        for each, recorded, redacted in texts
    ]


def unredacted_passages(found: Step) -> list[SharedPassage]:
    """Return the passages of a step of which nothing is withheld."""
    return [
        SharedPassage(
            hit=shared_hit(each.hit, {name: getattr(each.hit, name) for name in HIT if name != "text"}),
            text=each.text,
        )
        for each in found.passages
    ]


def hits_in(document: Mapping[str, Any], number: int | None = None) -> list[Mapping[str, Any]]:
    """Return the passages of a document; if they are withheld completely, `number` marks."""
    retrieval = document["retrieval"]
    hits = retrieval.get("hits") if isinstance(retrieval, Mapping) else []
    if not isinstance(hits, list) or (number and not hits):
        return [WITHHELD_HIT] * (number or 0)
    return [each if isinstance(each, Mapping) else WITHHELD_HIT for each in hits]


def shared_head(head: Head | None, before: Any, after: Any, first_bytes: int) -> Head | None:
    """Return the beginning of a payload whose value was `before` redaction and is `after` it."""
    if head is None or before == after:
        return head
    content = content_of(after)
    text = codecs.getincrementaldecoder("utf-8")("surrogatepass").decode(content.data[:first_bytes])
    return Head(
        sha256=mark(HASH),
        media_type=content.media_type,
        size=len(content.data),
        text=text,
        cut=len(content.data) > first_bytes,
        withheld=True,
    )


def shown_of_retrieval(action: Action, retrieval: Any) -> JsonObject | None:
    """Return how an action's passages were found; None if not recorded or withheld completely."""
    if action.retrieval is None or not isinstance(retrieval, Mapping):
        return None
    return {name: retrieval[name] for name in RETRIEVAL if name in retrieval}


def _redacted_words(action: Action, document: Mapping[str, Any]) -> JsonObject:
    """Return the fields that redaction may change, from a redacted document."""
    error_type, error_message = error_of(document["error"])
    return {name: document[name] for name in _WORDS} | {
        "client_id": document["id"],
        "parent_id_given": None if action.parent_id_given is None else document["parent"],
        "error_type": error_type,
        "error_message": error_message,
        "retrieval": shown_of_retrieval(action, document["retrieval"]),
    }


def _agent(action: Action) -> str | None:
    return mark(FIELD) if is_maker(action.kind, action.agent) else action.agent


def _shown_retrieval(retrieval: Mapping[str, Any] | None) -> JsonObject | None:
    if retrieval is None:
        return None
    hits = [{name: hit[name] for name in HIT if name in hit} for hit in retrieval["hits"]]
    return {name: retrieval[name] for name in RETRIEVAL if name in retrieval} | {"hits": hits}


def _mapping(value: Any) -> Mapping[str, Any] | None:
    """Return a mapping; one that is withheld completely becomes a mapping with a mark."""
    return value if value is None or isinstance(value, Mapping) else dict(_WITHHELD)
