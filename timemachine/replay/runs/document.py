"""A replay and its steps as the JSON documents of the contract."""

from typing import Any

from timemachine.core.payloads.queries import text, value
from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs.models import Replay, ReplayHit, ReplayStep
from timemachine.replay.runs.pure.statuses import TERMINAL_STEP_STATUSES
from timemachine.replay.runs.pure.summary import Tally, failure_json, sentence
from timemachine.replay.runs.queries import tally

USAGE = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def replay_json(replay: Replay, counts: Tally | None = None) -> dict[str, Any]:
    """A replay: its options, how far it is, what it came to so far (`counts` where they were counted with others)."""
    counts = counts or tally(replay)
    return {
        "id": str(replay.id),
        "session": str(replay.session_id),
        "kind": replay.kind,
        "model": replay.model,
        "status": replay.status,
        "cancel_requested": replay.cancel_requested_at is not None,
        "cancel_requested_at": written(replay.cancel_requested_at),
        "cancel_requested_by": replay.cancel_requested_by,
        "options": replay.options,
        "reason": replay.reason,
        "requested_by": replay.requested_by,
        "created_at": written(replay.created_at),
        "started_at": written(replay.started_at),
        "finished_at": written(replay.finished_at),
        "steps": {
            "total": counts.total,
            **{name: counts.statuses.get(name, 0) for name in TERMINAL_STEP_STATUSES},
        },
        "context": {
            name: counts.contexts.get(name, 0) for name in ("verified", "altered", "missing", "not_recorded")
        },
        "retrieval": dict(counts.retrievals),
        "verdicts": dict(counts.verdicts),
        "cost_usd": float(counts.cost_usd),
        "unknown_cost_calls": counts.unknown_cost_calls,
        "recorded_cost_usd": float(counts.recorded_cost_usd),
        "recorded_unknown_cost_calls": counts.recorded_unknown_cost_calls,
        "waiting": {"calls": counts.waiting, "until": written(counts.waits_until)},
        "over_limit_usd": None if counts.over_limit_usd is None else float(counts.over_limit_usd),
        "uncertain_calls": counts.uncertain_calls,
        "most_frequent_error": failure_json(counts.failure),
        "summary": sentence(counts),
    }


def step_json(step: ReplayStep) -> dict[str, Any]:
    """A step: the context's verdict frame by frame, retrieval then and now, the answers side by side with their verdict."""
    return {
        "sequence": step.sequence,
        "kind": step.kind,
        "status": step.status,
        "context": step.context,
        "frames": step.frames or [],
        "retrieval": step.retrieval,
        "original": _original(step.action),
        "new": _new(step),
        "verdict": step.verdict,
        "evidence": step.evidence,
        "attempts": [
            {
                "number": each.number,
                "worker": each.worker,
                "started_at": written(each.started_at),
                "call_intended_at": written(each.call_intended_at),
                "finished_at": written(each.finished_at),
                "outcome": each.outcome,
                "calls_made": each.calls_made,
                "cost_usd": dollars(each.cost_usd),
            }
            for each in sorted(step.attempts.all(), key=lambda each: each.number)
        ],
    }


def _original(action: Action) -> dict[str, Any]:
    return {
        "input": value(action.input),
        "output": value(action.output),
        "model": action.model,
        "parameters": action.parameters,
        "usage": _usage(action),
        "cost_usd": dollars(action.cost_usd),
        "duration_ms": action.duration_ms,
        "grounding": action.grounding,
        "retrieval": action.retrieval,
    }


def _new(step: ReplayStep) -> dict[str, Any] | None:
    if step.model is None and step.retrieval is None and step.error_message is None:
        return None
    return {
        "output": value(step.output),
        "model": step.model,
        "parameters": step.parameters,
        "usage": _usage(step),
        "cost_usd": dollars(step.cost_usd),
        "prices": step.prices,
        "duration_ms": step.duration_ms,
        "grounding": step.grounding,
        "hits": [_hit(hit) for hit in step.hits.all()],
        "error": {"type": step.error_type, "message": step.error_message} if step.error_message else None,
    }


def _hit(hit: ReplayHit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "score": hit.score,
        "scores": hit.scores,
        "matched": hit.matched,
        "frame": hit.frame,
        "version": hit.version,
        "title": hit.title,
        "uri": hit.uri,
        "metadata": hit.metadata,
        "sha256": hit.sha256,
        "text": text(hit.payload) if hit.payload is not None else None,
    }


def _usage(row: Action | ReplayStep) -> dict[str, Any] | None:
    found = {name: getattr(row, name) for name in USAGE}
    return found if any(count is not None for count in found.values()) else None
