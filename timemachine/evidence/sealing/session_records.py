"""The records of a session: the session itself at 0, then each action at its sequence.

An action's fields are committed to in groups, so that words about people can be withheld while figures stay
proven: `facts` (kinds, figures, times, model, money), `words` (names, ids, tags, parameters, errors),
`grounding`, `retrieval`, `input`, `output`, `source`, and `hit.N` and `hit.N.text` for each passage. Payloads
are their exact bytes, everything else is canonical JSON.
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
from timemachine.recording.sessions.models import Action, Hit, Session

PAYLOADS: Final = ("input", "output", "source")
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
_WORDS: Final = ("agent", "name", "tool", "call_id", "parameters", "cached_from")
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
    "grounding",
    "retrieval",
    *_FIGURES,
    *_WORDS,
    *(f"{name}{of}" for name in PAYLOADS for of in ("_id", "__sha256", "__size", "__media_type")),
)


def header(session: Session) -> Record:
    """Return the record of the session itself: what never changes about it. Its name and tags can change and
    are in the bundle's statement.
    """
    about = {
        "key": session.key,
        "agent": session.agent,
        "user": session.user,
        "created_at": written(session.created_at),
        "created_by": session.created_by,
        "started_at": written(session.started_at),
        "imported_as": session.imported_as,
    }
    at = written(session.created_at) or ""
    return Record(index=0, kind="session", at=at, fields=recorded_fields([("about", json_field(about))]))


def actions(session: Session, first: int, last: int) -> Iterator[Record]:
    """Yield the records of the actions from one sequence to another, both included, in order. Two queries."""
    hits = _hits(session, first, last)
    rows = Action.objects.filter(session=session, sequence__gte=first, sequence__lte=last)
    for row in rows.order_by("sequence").values(*_COLUMNS):
        yield _record(row, hits.get(row["sequence"], ()))


def _record(row: Mapping[str, Any], hits: Sequence[Mapping[str, Any]]) -> Record:
    fields = recorded_fields(
        [
            ("facts", json_field(_facts(row))),
            ("words", json_field(_words(row))),
            ("grounding", _document(row["grounding"])),
            ("retrieval", _document(row["retrieval"])),
            *((name, _payload(row, name)) for name in PAYLOADS),
            *(pair for hit in hits for pair in hit_fields(hit)),
        ]
    )
    return Record(
        index=row["sequence"], kind=row["kind"], at=written(row["recorded_at"]) or "", fields=fields
    )


def _facts(row: Mapping[str, Any]) -> dict[str, Any]:
    media = {name: kind for name in PAYLOADS if (kind := row[f"{name}__media_type"]) is not None}
    return {
        **{name: row[name] for name in _FIGURES},
        "started_at": written(row["started_at"]),
        "cost_usd": _money(row["cost_usd"]),
        "saved_usd": _money(row["saved_usd"]),
        "media": media or None,
    }


def _words(row: Mapping[str, Any]) -> dict[str, Any]:
    error = {"type": row["error_type"], "message": row["error_message"]}
    parent = row["parent_id_given"] if row["parent_id_given"] is not None else row["parent_sequence"]
    return {
        **{name: row[name] for name in _WORDS},
        "id": row["client_id"],
        "parent": parent,
        "tags": row["tags"] or None,
        "error": error if any(value is not None for value in error.values()) else None,
    }


def _hits(session: Session, first: int, last: int) -> dict[int, list[Mapping[str, Any]]]:
    inside = Hit.objects.filter(
        action__session=session, action__sequence__gte=first, action__sequence__lte=last
    )
    rows = inside.order_by("action__sequence", "rank").values(
        "action__sequence", "payload_id", "payload__sha256", "payload__size", *HIT_COLUMNS
    )
    found: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["action__sequence"]].append(row)
    return found


def _payload(row: Mapping[str, Any], name: str) -> Field | None:
    if row[f"{name}_id"] is None:
        return None
    return payload_field(row[f"{name}_id"], row[f"{name}__sha256"], row[f"{name}__size"])


def _document(value: Any) -> Field | None:
    return None if value is None else inline_field(canonical_json(value))


def _money(dollars: Any) -> str | None:
    """Return US dollars with every digit that the database stores."""
    return None if dollars is None else str(dollars)
