"""The records of a session: the session itself at 0, then each action at its sequence.

An action's fields are committed to in groups, so that words about people can be withheld while figures stay
proven: `facts` (kinds, figures, times, model, money), `words` (names, ids, tags, metadata, parameters, errors),
`copied_from`, `grounding`, `retrieval`, `input`, `output`, `source`, and `hit.N` and `hit.N.text` for each passage. Record
0 has `about` and, in the branch of a continuation, `continues`. Payloads
are their exact bytes, everything else is canonical JSON.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from timemachine.core.pure.clock import written
from timemachine.core.pure.json_types import JsonObject
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
from timemachine.recording.sessions.models import Action, Hit, Session

PAYLOADS: Final = ("input", "output", "source")
CONTINUES: Final = "continues"
"""The field of record 0 of a continuation's branch."""
_FIGURES: Final = (
    "layer",
    "role",
    "significance",
    "importance",
    "iteration",
    "duration_ms",
    "model",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "prices",
    "cached",
)
_WORDS: Final = ("agent", "name", "tool", "call_id", "parameters", "cached_from", "metadata")
_COLUMNS: Final = (
    "sequence",
    "kind",
    "recorded_at",
    "started_at",
    "cost_usd",
    "saved_usd",
    "client_id",
    "parent_id_given",
    "parent_sequence",
    "tags",
    "error_type",
    "error_message",
    "copied_from",
    "grounding",
    "retrieval",
    *_FIGURES,
    *_WORDS,
    *(column for name in PAYLOADS for column in (*payload_columns(name), f"{name}__media_type")),
)


def header(session: Session) -> Record:
    """Return the record of the session itself, without name and tags, which can change."""
    about = {
        "key": session.key,
        "agent": session.agent,
        "user": session.user,
        "created_at": written(session.created_at),
        "created_by": session.created_by,
        "started_at": written(session.started_at),
        "imported_as": session.imported_as,
    }
    fields = [("about", json_field(about)), (CONTINUES, value_field(session.continues))]
    return Record.of(0, "session", session.created_at, fields)


def actions(session: Session, first: int, last: int) -> Iterator[Record]:
    """Yield the records of the actions from one sequence to another, both included, in order. Two queries."""
    found = Hit.objects.filter(
        action__session=session, action__sequence__gte=first, action__sequence__lte=last
    ).order_by("action__sequence", "rank")
    hits = rows_by(found.values("action__sequence", *HIT_ROW), "action__sequence")
    rows = Action.objects.filter(session=session, sequence__gte=first, sequence__lte=last)
    for row in rows.order_by("sequence").values(*_COLUMNS):
        yield _record(row, hits[row["sequence"]])


def _record(row: Mapping[str, Any], hits: Iterable[Mapping[str, Any]]) -> Record:
    return Record.of(
        row["sequence"],
        row["kind"],
        row["recorded_at"],
        [
            ("facts", json_field(_facts(row))),
            ("words", json_field(_words(row))),
            ("copied_from", value_field(row["copied_from"])),
            ("grounding", value_field(row["grounding"])),
            ("retrieval", value_field(row["retrieval"])),
            *((name, payload_field(row, name)) for name in PAYLOADS),
            *hit_fields(hits),
        ],
    )


def _facts(row: Mapping[str, Any]) -> JsonObject:
    media = {name: kind for name in PAYLOADS if (kind := row[f"{name}__media_type"]) is not None}
    return {
        **{name: row[name] for name in _FIGURES},
        "started_at": written(row["started_at"]),
        "cost_usd": text_of(row["cost_usd"]),
        "saved_usd": text_of(row["saved_usd"]),
        "media": media or None,
    }


def _words(row: Mapping[str, Any]) -> JsonObject:
    parent = row["parent_id_given"] if row["parent_id_given"] is not None else row["parent_sequence"]
    return {
        **{name: row[name] for name in _WORDS},
        "id": row["client_id"],
        "parent": parent,
        "tags": row["tags"] or None,
        "error": error_of(row["error_type"], row["error_message"]),
    }
