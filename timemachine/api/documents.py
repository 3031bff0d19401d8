"""What programs get: each thing as the JSON document of the contract."""

from decimal import Decimal
from typing import Any

from django.conf import settings

from timemachine.answering.commands import AskDone, FindDone
from timemachine.base.clock import written
from timemachine.payloads.queries import text
from timemachine.providers.completion import is_cut_off
from timemachine.recording.models import Session
from timemachine.retrieval.finding import Findings, Found
from timemachine.retrieval.models import Collection, Frame


def money(dollars: Decimal | None) -> float | None:
    """US dollars as a JSON number."""
    return None if dollars is None else float(dollars)


def session_json(session: Session) -> dict[str, Any]:
    """A session: what it is called, and what its actions add up to."""
    return {
        "id": str(session.id),
        "key": session.key,
        "name": session.name,
        "agent": session.agent,
        "user": session.user,
        "collection": session.collection.name if session.collection else None,
        "status": session.status,
        "parent": _parent(session),
        "metadata": session.metadata,
        "tags": session.tags,
        "created_at": written(session.created_at),
        "created_by": session.created_by,
        "started_at": written(session.started_at),
        "ended_at": written(session.ended_at),
        "imported_as": session.imported_as,
        "actions": session.last_sequence,
        "errors": session.error_count,
        "input_tokens": session.input_tokens,
        "output_tokens": session.output_tokens,
        "cost_usd": money(session.cost_usd),
        "unknown_cost_calls": session.unknown_cost_calls,
        "cached_calls": session.cached_calls,
        "saved_usd": money(session.saved_usd),
        "unknown_saved_calls": session.unknown_saved_calls,
        "url": f"{settings.PUBLIC_URL}/sessions/{session.id}/",
    }


def collection_json(collection: Collection) -> dict[str, Any]:
    """A collection, with the number of its current frames where that was asked for."""
    return {
        "name": collection.name,
        "frames": getattr(collection, "frame_count", None),
        "embedding_model": collection.embedding_model,
        "created_at": written(collection.created_at),
        "created_by": collection.created_by,
    }


def frame_json(frame: Frame) -> dict[str, Any]:
    """One version of a frame, whole."""
    return {
        "frame": frame.number,
        "version": frame.version,
        "title": frame.title,
        "uri": frame.uri,
        "metadata": frame.metadata,
        "sha256": frame.sha256,
        "text": text(frame.payload),
        "valid_from": written(frame.valid_from),
        "valid_until": written(frame.valid_until),
        "ended_by": frame.ended_by,
        "put_by": frame.put_by,
    }


def hit_json(hit: Found) -> dict[str, Any]:
    """One passage that was found."""
    return {
        "rank": hit.rank,
        "score": hit.score,
        "scores": hit.scores,
        "frame": hit.frame,
        "version": hit.version,
        "title": hit.title,
        "uri": hit.uri,
        "metadata": hit.metadata,
        "sha256": hit.sha256,
        "text": hit.text,
        "matched": hit.matched.as_json(),
    }


def find_json(done: FindDone) -> dict[str, Any]:
    """What a find came to."""
    return {**findings_json(done.findings), "sequence": done.sequence}


def ask_json(done: AskDone) -> dict[str, Any]:
    """What an ask came to."""
    answered = done.answered
    return {
        "answer": answered.text,
        "model": answered.model,
        "parameters": answered.parameters,
        "finish_reason": answered.parameters.get("finish_reason"),
        "cut_off": is_cut_off(answered.parameters.get("finish_reason")),
        "usage": usage_json(answered.usage),
        "cost_usd": money(answered.cost_usd),
        "prices": answered.prices,
        "grounding": answered.grounding,
        "cached": answered.cached,
        "saved_usd": money(answered.saved_usd),
        "cached_from": answered.cached_from,
        "duration_ms": answered.duration_ms,
        **findings_json(done.findings),
        "sequence": done.sequence,
    }


def usage_json(usage: Any) -> dict[str, Any] | None:
    """Token counts by their names; None where nothing is known."""
    return None if usage is None else {name: getattr(usage, name) for name in usage.__slots__}


def findings_json(findings: Findings) -> dict[str, Any]:
    """What was found, and how."""
    return {
        "hits": [hit_json(hit) for hit in findings.hits],
        "mode": findings.query.mode,
        "top_k": findings.query.top_k,
        "adaptive": findings.query.adaptive,
        "cut_by": findings.cut_by,
        "as_of": written(findings.as_of),
        "embedding_model": findings.embedding_model,
        "semantic_search": findings.semantic_search,
        "curve": findings.curve.as_json(),
        "below": findings.below.as_json() if findings.below else None,
    }


def _parent(session: Session) -> dict[str, Any] | None:
    if session.parent_id is None:
        return None
    return {"session": str(session.parent_id), "sequence": session.parent_sequence}
