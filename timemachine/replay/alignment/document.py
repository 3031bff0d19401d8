"""Two aligned runs as the JSON document of the contract."""

from typing import Any

from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.replay.alignment.facts import RunStep
from timemachine.replay.alignment.queries import Aligned, Side


def compared_json(found: Aligned) -> dict[str, Any]:
    """What the two runs are and add up to, and how many pairs there are of each status."""
    return {
        "a": _side(found.left),
        "b": _side(found.right),
        "compared": "finds_and_asks" if found.only_replayed else "steps",
        "counts": found.counts,
    }


def pair_json(found: Aligned, place: int) -> dict[str, Any]:
    """One pair: its status, in what it differs, and the step of either run, null where it has none; `moved`: its number on the other side."""
    pair = found.pairs[place]
    return {
        "status": pair.status,
        "differs_in": list(pair.differs_in),
        "moved": pair.moved,
        "a": _step(found.left.steps[pair.left.sequence]) if pair.left else None,
        "b": _step(found.right.steps[pair.right.sequence]) if pair.right else None,
    }


def _side(side: Side) -> dict[str, Any]:
    run, totals = side.run, side.totals
    return {
        "kind": run.kind,
        "id": str(run.id),
        "session": str(run.session.id),
        "key": run.session.key,
        "name": run.session.name,
        "replay_kind": run.replay.kind if run.replay else None,
        "model": run.replay.model if run.replay else None,
        "started_at": written(run.replay.started_at if run.replay else run.session.began_at),
        "steps": totals.steps,
        "errors": totals.errors,
        "input_tokens": totals.input_tokens,
        "output_tokens": totals.output_tokens,
        "cost_usd": dollars(totals.cost_usd),
        "unknown_cost_calls": totals.unknown_cost_calls,
        "duration_ms": totals.duration_ms,
    }


def _step(step: RunStep) -> dict[str, Any]:
    facts = step.facts
    return {
        "sequence": facts.sequence,
        "kind": facts.kind,
        "tool": facts.tool,
        "name": facts.name,
        "role": facts.role,
        "label": step.label,
        "model": facts.model,
        "error": facts.error,
        "answered": facts.answered,
        "not_asked": step.not_asked,
        "duration_ms": step.duration_ms,
        "input_tokens": step.input_tokens,
        "output_tokens": step.output_tokens,
        "cost_usd": dollars(step.cost_usd),
    }
