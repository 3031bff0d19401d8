"""Turn drafts into rows: payloads stored once, actions, their hits, and the session's counters."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from operator import attrgetter
from typing import Any, Final, NamedTuple
from uuid import UUID

from timemachine.core.payloads.commands import store
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.content import Content, content_of, text_bytes
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import sum_known
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure import validation
from timemachine.recording.sessions.pure.corrections import unknown_cost_calls
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.sessions.pure.label import label

COUNTERS: Final = [
    "last_sequence",
    "error_count",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "unknown_cost_calls",
    "cached_calls",
    "saved_usd",
    "unknown_saved_calls",
    "last_action_at",
    "first_step_at",
    "last_step_ended_at",
]
COUNTED: Final = (
    "copied_from",
    "kind",
    "model",
    "error_type",
    "error_message",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "prices",
    "cached",
    "saved_usd",
    "recorded_at",
    "started_at",
    "duration_ms",
)
"""The columns that `add_to_counters` reads."""
PAYLOADS: Final = ("input", "output", "source")
COPIED: Final = tuple(
    each.name
    for each in fields(ActionDraft)
    if each.name not in {"id", "parent", "tags", "usage", "retrieval", *PAYLOADS}
)
"""The fields of a draft that are columns of its row, unchanged."""
_copied: Final = attrgetter(*COPIED)
TOKENS: Final = tuple(field.name for field in fields(Usage))
_tokens: Final = attrgetter(*TOKENS)
SENT_COLUMNS: Final = ("tags", "parent_id_given", "parent_sequence", "retrieval", *COPIED, *TOKENS)
OF_HIT: Final = tuple(
    each.name for each in fields(HitDraft) if each.name not in {"sha256", "text", "stored_frame", "unhashed"}
)
SEARCHED: Final = ("collection", "semantic_search", "curve", "below", "thresholds", "min_score")
_unlimited: Final = attrgetter("name", "error_type", "error_message", "parameters", "prices", "cached_from", "grounding", "copied_from", "metadata")  # fmt: skip
_unlimited_of_search: Final = attrgetter("collection", "cut_by", "embedding_model", "semantic_search", "curve", "below", "thresholds")  # fmt: skip
_unlimited_of_hit: Final = attrgetter("frame", "title", "uri", "metadata", "scores", "matched")
"""The parts of an action, its search and its hits that may have any length and are not stored as payloads."""
PayloadIds = Mapping[Content, int]
type Row = dict[str, Any]
"""The columns of a row to be written."""
_NO_USAGE: Final = Usage()


class ActionContents(NamedTuple):
    """The payloads of an action as bytes with their hashes: each is computed once and then referred to by its hash."""

    input: Content | None
    output: Content | None
    source: Content | None
    texts: tuple[Content | None, ...]
    """Of its hits, in order."""


def contents_of(draft: ActionDraft, largest: int) -> ActionContents:
    """Return the payloads and passages of a draft. Raises `TooLarge` if the action has more than `largest` bytes.

    Texts of frames found here are already in their collection, and `source` repeats the action in another tool's
    format. Neither counts.
    """
    found = _hits(draft)
    parts = ActionContents(
        input=_content(draft.input),
        output=_content(draft.output),
        source=_content(draft.source),
        texts=tuple(_content(hit.text) for hit in found),
    )
    own = [parts.input, parts.output]
    own += [text for hit, text in zip(found, parts.texts, strict=True) if hit.stored_frame is None]
    size = sum(len(content.data) for content in own if content is not None)
    validation.check_size(size + _row_bytes(draft), largest)
    return parts


def _row_bytes(draft: ActionDraft) -> int:
    """Return the bytes of an action that are stored in its own row and in those of its hits."""
    values = [*_unlimited(draft), draft.tags or None]
    if draft.retrieval is not None:
        values += _unlimited_of_search(draft.retrieval)
    for hit in _hits(draft):
        if hit.stored_frame is None:
            values += _unlimited_of_hit(hit)
    return sum(_size(each) for each in values if each is not None)


def _size(value: Any) -> int:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return len(text_bytes(text))


def store_payloads(project_id: UUID, parts: Sequence[ActionContents]) -> PayloadIds:
    """Store every payload and passage; return the ids of their rows."""
    contents = (content for each in parts for content in (each.input, each.output, each.source, *each.texts))
    return store(project_id, (content for content in contents if content is not None))


def action_row(
    session: Session, sequence: int, draft: ActionDraft, parts: ActionContents, payload_ids: PayloadIds
) -> Row:
    """Return the row of an action."""
    return {
        "project_id": session.project_id,
        "session_id": session.id,
        "sequence": sequence,
        "client_id": draft.id,
        "label": label(draft),
        "recorded_at": now(),
        **sent_columns(draft),
        **{f"{name}_id": _payload_id(getattr(parts, name), payload_ids) for name in PAYLOADS},
    }


def sent_columns(draft: ActionDraft) -> Row:
    """Return the columns that the sender fills (`SENT_COLUMNS`), without payloads, passages and the id."""
    return {
        "tags": list(draft.tags),
        "parent_id_given": draft.parent if isinstance(draft.parent, str) else None,
        "parent_sequence": draft.parent if isinstance(draft.parent, int) else None,
        "retrieval": _retrieval(draft.retrieval),
        **dict(zip(COPIED, _copied(draft), strict=True)),
        **dict(zip(TOKENS, _tokens(draft.usage or _NO_USAGE), strict=True)),
    }


def hit_rows(action_id: int, draft: ActionDraft, parts: ActionContents, payload_ids: PayloadIds) -> list[Row]:
    """Return the rows of the passages that were found."""
    return [
        {
            "action_id": action_id,
            **{name: getattr(hit, name) for name in OF_HIT},
            "sha256": hit.sha256 if text is None or hit.unhashed else text.sha256,
            "payload_id": _payload_id(text, payload_ids),
            "stored_frame_id": hit.stored_frame,
        }
        for hit, text in zip(_hits(draft), parts.texts, strict=True)
    ]


def add_to_counters(session: Session, actions: Sequence[Row]) -> None:
    """Add the actions to the session's counters. Copied ones only have a place in it.

    A sum stays None until an action records a value. Calls with unknown cost or saving are counted separately. The
    counters depend on nothing but the actions, so that a check can count again.
    """
    happened = [row for row in actions if row["copied_from"] is None]
    session.last_sequence += len(actions)
    session.error_count += sum(
        1 for row in happened if row["error_type"] is not None or row["error_message"] is not None
    )
    session.input_tokens = sum_known(session.input_tokens, *(row["input_tokens"] for row in happened))
    session.output_tokens = sum_known(session.output_tokens, *(row["output_tokens"] for row in happened))
    session.cost_usd = sum_known(session.cost_usd, *(row["cost_usd"] for row in happened))
    session.unknown_cost_calls += sum(map(_unknown_cost_calls, happened))
    saved = [row["saved_usd"] for row in happened if row["cached"]]
    session.cached_calls += len(saved)
    session.saved_usd = sum_known(session.saved_usd, *saved)
    session.unknown_saved_calls += saved.count(None)
    _add_times(session, happened)
    latest = [row["recorded_at"] for row in actions]
    session.last_action_at = max(
        [session.last_action_at, *latest] if session.last_action_at else latest, default=None
    )


def _add_times(session: Session, actions: Sequence[Row]) -> None:
    timed = [(row["started_at"], row["duration_ms"] or 0) for row in actions if row["started_at"] is not None]
    if timed:
        ends = [start + timedelta(milliseconds=took) for start, took in timed]
        session.first_step_at = min(
            start for start in (session.first_step_at, *(start for start, _ in timed)) if start
        )
        session.last_step_ended_at = max(end for end in (session.last_step_ended_at, *ends) if end)


def _unknown_cost_calls(row: Row) -> int:
    columns = {name: row[name] for name in ("model", "cost_usd", "input_tokens", "output_tokens", "prices")}
    return unknown_cost_calls(row["kind"], **columns)


def _hits(draft: ActionDraft) -> Sequence[HitDraft]:
    return draft.retrieval.hits if draft.retrieval is not None else ()


def _content(value: Any) -> Content | None:
    return None if value is None else content_of(value)


def _payload_id(content: Content | None, payload_ids: PayloadIds) -> int | None:
    return None if content is None else payload_ids[content]


def _retrieval(retrieval: RetrievalDraft | None) -> JsonObject | None:
    if retrieval is None:
        return None
    return {
        "mode": retrieval.mode,
        "top_k": retrieval.top_k,
        "adaptive": retrieval.adaptive,
        "cut_by": retrieval.cut_by,
        "as_of": written(retrieval.as_of),
        "embedding_model": retrieval.embedding_model,
        **{name: value for name in SEARCHED if (value := getattr(retrieval, name)) is not None},
        **({"not_embedded": retrieval.not_embedded} if retrieval.not_embedded else {}),
    }
