"""The records of a finished replay: the replay itself at 0, then its steps in the order of the session.

Each step links the record that it repeats by that record's leaf hash. Its fields: `facts` (status, verdicts,
figures, times, model, money), `words` (evidence of the verdict, parameters, errors, what happened to the
frames), `grounding`, `output`, and `hit.N` and `hit.N.text` for each passage that was found again.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from timemachine.core.pure.clock import written
from timemachine.core.pure.content import canonical_json
from timemachine.evidence.pure.record import (
    HIT_COLUMNS,
    Field,
    Record,
    hit_fields,
    inline_field,
    json_field,
    payload_field,
    recorded_fields,
)
from timemachine.replay.runs.models import Replay, ReplayHit, ReplayStep

RECORD_LINK: Final = "recorded"
_FIGURES: Final = (
    "status",
    "attempts_made",
    "context",
    "verdict",
    "model",
    "duration_ms",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "prices",
)
_WORDS: Final = ("evidence", "parameters", "frames", "retrieval")
COLUMNS: Final = (
    "id",
    "sequence",
    "kind",
    "started_at",
    "finished_at",
    "cost_usd",
    "grounding",
    "error_type",
    "error_message",
    "output_id",
    "output__sha256",
    "output__size",
    "output__media_type",
    *_FIGURES,
    *_WORDS,
)


def header(replay: Replay) -> Record:
    """Return the record of the replay itself: its options, who requested it and why."""
    figures = {
        "kind": replay.kind,
        "status": replay.status,
        "model": replay.model,
        "session": str(replay.session_id),
        "created_at": written(replay.created_at),
        "started_at": written(replay.started_at),
        "finished_at": written(replay.finished_at),
    }
    words = {
        "options": replay.options,
        "reason": replay.reason,
        "requested_by": replay.requested_by,
        "cancelled_by": replay.cancel_requested_by,
    }
    return Record(
        index=0,
        kind="replay",
        at=written(replay.finished_at) or "",
        fields=recorded_fields([("facts", json_field(figures)), ("words", json_field(words))]),
    )


def steps(replay: Replay, leaves: Mapping[int, str], first: int, last: int) -> Iterator[Record]:
    """Yield the records of the steps from one index to another (the first step is 1), both included. Two
    queries.

    `leaves` are the leaf hashes of the session's records, in hex, by sequence.
    """
    rows = list(
        ReplayStep.objects.filter(replay=replay).order_by("sequence").values(*COLUMNS)[first - 1 : last]
    )
    hits = hits_of([row["id"] for row in rows])
    for index, row in enumerate(rows, start=first):
        yield _record(index, row, hits.get(row["id"], ()), leaves[row["sequence"]])


def _record(index: int, row: Mapping[str, Any], hits: Sequence[Mapping[str, Any]], recorded: str) -> Record:
    fields = recorded_fields(
        [
            ("facts", json_field(facts(row))),
            ("words", json_field(_words(row))),
            (
                "grounding",
                None if row["grounding"] is None else inline_field(canonical_json(row["grounding"])),
            ),
            ("output", output(row)),
            *(pair for hit in hits for pair in hit_fields(hit)),
        ]
    )
    at = written(row["finished_at"]) or ""
    return Record(index=index, kind=row["kind"], at=at, fields=fields, links={RECORD_LINK: recorded})


def facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the measurements of a step from its columns."""
    return {
        **{name: row[name] for name in _FIGURES},
        "sequence": row["sequence"],
        "started_at": written(row["started_at"]),
        "cost_usd": None if row["cost_usd"] is None else str(row["cost_usd"]),
        "media": {"output": row["output__media_type"]} if row["output_id"] is not None else None,
    }


def _words(row: Mapping[str, Any]) -> dict[str, Any]:
    error = {"type": row["error_type"], "message": row["error_message"]}
    recorded_error = error if any(value is not None for value in error.values()) else None
    return {**{name: row[name] for name in _WORDS}, "error": recorded_error}


def output(row: Mapping[str, Any]) -> Field | None:
    """Return the new answer of a step from its columns."""
    return (
        None
        if row["output_id"] is None
        else payload_field(row["output_id"], row["output__sha256"], row["output__size"])
    )


def hits_of(steps_of: Sequence[int]) -> dict[int, list[Mapping[str, Any]]]:
    """Return the passages that were found again, by step id. One query."""
    rows = ReplayHit.objects.filter(step_id__in=steps_of).order_by("step_id", "rank")
    found: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows.values("step_id", "payload_id", "payload__sha256", "payload__size", *HIT_COLUMNS):
        found[row["step_id"]].append(row)
    return found
