"""The records of a finished replay: the replay itself at 0, then its steps in the order of the session.

Each step links the record that it repeats by that record's leaf hash. Its fields: `facts` (status, verdicts,
figures, times, model, money), `words` (evidence of the verdict, parameters, errors, what happened to the
frames), `attempts` (their times, outcomes, calls and costs), `grounding`, `output`, and `hit.N` and `hit.N.text`
for each passage that was found again. Seals of earlier versions have no `attempts` and no `cancelled`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from timemachine.core.pure.clock import written
from timemachine.core.pure.json_types import JsonObject
from timemachine.evidence.models import Seal
from timemachine.evidence.pure.record import (
    HIT_ROW,
    Record,
    error_of,
    hit_fields,
    json_field,
    payload_columns,
    payload_field,
    rows_by,
    text_of,
    value_field,
)
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayHit, ReplayStep

RECORD_LINK: Final = "recorded"
ATTEMPTS, CANCELLED = "attempts", "cancelled"
SINCE_VERSION_2: Final = frozenset({ATTEMPTS, CANCELLED})
"""The fields that seals of earlier versions do not have."""
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
    "action__sequence",
    "action__session_id",
    "replay__session_id",
    "kind",
    "started_at",
    "finished_at",
    "cost_usd",
    "grounding",
    "error_type",
    "error_message",
    *payload_columns("output"),
    "output__media_type",
    *_FIGURES,
    *_WORDS,
)


def ran_after(seal: Seal, replay: Replay) -> bool:
    """Return whether the replay is running or ran again after it was sealed: a step finished later. Its own end can be altered."""
    later = ReplayStep.objects.filter(replay=replay, finished_at__gt=seal.run_ended_at)
    return replay.finished_at is None or later.exists()


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
    cancelled = {"requested_at": written(replay.cancel_requested_at)}
    fields = [
        ("facts", json_field(figures)),
        ("words", json_field(words)),
        (CANCELLED, value_field(cancelled)),
    ]
    return Record.of(0, "replay", replay.finished_at, fields)


def steps(replay: Replay, leaves: Mapping[int, str], first: int, last: int) -> Iterator[Record]:
    """Yield the records of the steps from one index (from 1) to another, both included. Three queries.

    `leaves` are the leaf hashes of the session's records, in hex, by sequence.
    """
    found = ReplayStep.objects.filter(replay=replay).order_by("sequence")
    rows = list(found.values(*COLUMNS)[first - 1 : last])
    ids = [row["id"] for row in rows]
    hits, attempts = hits_of(ids), attempts_of(ids)
    for index, row in enumerate(rows, start=first):
        fields = [
            ("facts", json_field(facts(row))),
            (
                "words",
                json_field(
                    {
                        **{name: row[name] for name in _WORDS},
                        "error": error_of(row["error_type"], row["error_message"]),
                    }
                ),
            ),
            (ATTEMPTS, value_field(attempts[row["id"]])),
            ("grounding", value_field(row["grounding"])),
            ("output", payload_field(row, "output")),
            *hit_fields(hits[row["id"]]),
        ]
        links = {RECORD_LINK: leaves[row["sequence"]] if repeats_its_own(row) else ""}
        yield Record.of(index, row["kind"], row["finished_at"], fields, links)


def repeats_its_own(row: Mapping[str, Any]) -> bool:
    """Return whether the step refers to the recorded action at its own place."""
    return (row["action__session_id"], row["action__sequence"]) == (
        row["replay__session_id"],
        row["sequence"],
    )


def facts(row: Mapping[str, Any]) -> JsonObject:
    """Return the measurements of a step from its columns."""
    return {
        **{name: row[name] for name in _FIGURES},
        "sequence": row["sequence"],
        "started_at": written(row["started_at"]),
        "cost_usd": text_of(row["cost_usd"]),
        "media": {"output": row["output__media_type"]} if row["output_id"] is not None else None,
    }


def hits_of(steps_of: Sequence[int]) -> Mapping[int, Sequence[Mapping[str, Any]]]:
    """Return the passages that were found again, by step id. One query."""
    rows = ReplayHit.objects.filter(step_id__in=steps_of).order_by("step_id", "rank")
    return rows_by(rows.values("step_id", *HIT_ROW), "step_id")


def attempts_of(steps_of: Sequence[int]) -> Mapping[int, Sequence[JsonObject]]:
    """Return the attempts at steps in order, by step id. One query.

    A lost worker stores its calls and their cost whenever it comes back, so those of its attempts are left out.
    """
    found = defaultdict[int, list[JsonObject]](list)
    for each in ReplayAttempt.objects.filter(step__in=steps_of).order_by("step_id", "number"):
        attempt: JsonObject = {
            "number": each.number,
            "started_at": written(each.started_at),
            "call_intended_at": written(each.call_intended_at),
            "outcome": each.outcome,
        }
        if each.outcome != "lost":
            attempt |= {"calls_made": each.calls_made, "cost_usd": text_of(each.cost_usd)}
        found[each.step_id].append(attempt)
    return found
