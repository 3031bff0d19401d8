"""An action as the JSON document of the contract: every field by its name, what was not recorded as null."""

from typing import Any

from django.db.models import Prefetch, QuerySet

from timemachine.core.payloads import queries as payloads
from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.recording.sessions.models import Action, FrozenPassage, Hit

USAGE = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
HIT = ("rank", "score", "scores", "frame", "version", "title", "uri", "metadata", "sha256")
RETRIEVAL = (
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


def with_everything(actions: QuerySet[Action]) -> QuerySet[Action]:
    """The actions with all that `action_json` reads: two queries for any number of them."""
    hits = Prefetch("hits", Hit.objects.select_related("payload").order_by("rank"))
    return actions.select_related("input", "output", "source").prefetch_related(hits)


def action_json(action: Action) -> dict[str, Any]:
    """The action as the API gives it and "An action in JSON" describes it; `source` only where there is one.

    Times are RFC 3339, money is US dollars as a number. `parent` is what the client gave: its own id, or a sequence.
    """
    document = {
        "sequence": action.sequence,
        "id": action.client_id,
        "kind": action.kind,
        "layer": action.layer,
        "role": action.role,
        "agent": action.agent,
        "name": action.name,
        "tool": action.tool,
        "call_id": action.call_id,
        "parent": _first(action.parent_id_given, action.parent_sequence),
        "significance": action.significance,
        "importance": action.importance,
        "iteration": action.iteration,
        "tags": action.tags,
        "started_at": written(action.started_at),
        "duration_ms": action.duration_ms,
        "input": payloads.value(action.input),
        "output": payloads.value(action.output),
        "error": _error(action),
        "model": action.model,
        "parameters": action.parameters,
        "usage": _recorded({name: getattr(action, name) for name in USAGE}),
        "cost_usd": dollars(action.cost_usd),
        "prices": action.prices,
        "cached": action.cached,
        "saved_usd": dollars(action.saved_usd),
        "cached_from": action.cached_from,
        "grounding": action.grounding,
        "retrieval": _retrieval(action),
    }
    return document if action.source is None else {**document, "source": payloads.value(action.source)}


def _error(action: Action) -> dict[str, Any] | None:
    return _recorded({"type": action.error_type, "message": action.error_message})


def _retrieval(action: Action) -> dict[str, Any] | None:
    hits = [hit_json(hit) for hit in action.hits.all()]
    if action.retrieval is None and not hits:
        return None
    kept = action.retrieval or {}
    return {**{name: kept.get(name) for name in RETRIEVAL}, "hits": hits}


def hit_json(hit: FrozenPassage) -> dict[str, Any]:
    """A frozen passage as a document, with its text."""
    given = {name: getattr(hit, name) for name in HIT}
    return {**given, "text": payloads.value(hit.payload), "matched": hit.matched}


def _recorded(values: dict[str, Any]) -> dict[str, Any] | None:
    """The values where at least one was recorded, else None."""
    return values if any(value is not None for value in values.values()) else None


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
