"""What is in force for steps as documents of the API."""

from collections.abc import Sequence
from typing import Any

from timemachine.core.pure.clock import written
from timemachine.recording.annotations.significance.effective import KEPT
from timemachine.recording.annotations.significance.models import CompressionChange, WeightChange
from timemachine.recording.annotations.significance.queries import InForce, in_force
from timemachine.recording.sessions.models import Session


def weighed(session: Session, documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps as documents, with the significance and importance that are in force.

    Where that is not what was recorded, `recorded` says what was, and `weighed` who said otherwise and when, or that the session was
    compressed. One query.
    """
    found = in_force(session, [each["sequence"] for each in documents])
    return [_weighed(each, found.get(each["sequence"])) for each in documents]


def _weighed(document: dict[str, Any], now: InForce | None) -> dict[str, Any]:
    if now is None or (now.by is None and document["significance"] in KEPT):
        return document
    recorded = {name: document[name] for name in ("significance", "importance")}
    return document | {
        "significance": now.significance,
        "importance": now.importance,
        "recorded": recorded,
        "weighed": {"by": now.by, "at": written(now.at), "compressed": now.compressed},
    }


def change_json(change: WeightChange) -> dict[str, Any]:
    """A change: what it was set to (null: what was recorded), by whom, when, and by which proposal."""
    return {
        "id": str(change.id),
        "sequence": change.sequence,
        "significance": change.significance,
        "importance": change.importance,
        "proposal": change.rule,
        "by": change.by,
        "at": written(change.at),
    }


def compression_change_json(change: CompressionChange) -> dict[str, Any]:
    """That a session was compressed or that it was undone, by whom or by whose rule, and when."""
    return {
        "compressed": change.compressed,
        "by": change.by,
        "by_rule": change.by_rule,
        "at": written(change.at),
    }
