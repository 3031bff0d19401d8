"""Drafts as rows: payloads kept once, actions, their hits, and the session's counters."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from timemachine.base.clock import now, written
from timemachine.base.content import Content, content_of, text_sha256
from timemachine.base.numbers import together
from timemachine.payloads.commands import keep
from timemachine.recording import validation
from timemachine.recording.costs import has_unknown_cost
from timemachine.recording.draft import ActionDraft, HitDraft, RetrievalDraft, Usage
from timemachine.recording.label import label
from timemachine.recording.models import Action, Hit, Session

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
]
COPIED: Final = (
    "kind",
    "layer",
    "role",
    "agent",
    "name",
    "tool",
    "call_id",
    "significance",
    "importance",
    "iteration",
    "started_at",
    "duration_ms",
    "error_type",
    "error_message",
    "model",
    "parameters",
    "cost_usd",
    "prices",
    "cached",
    "saved_usd",
    "cached_from",
    "grounding",
)
PAYLOADS: Final = ("input", "output", "source")
SEARCHED: Final = ("semantic_search", "curve", "below", "thresholds", "min_score")
Kept = Mapping[tuple[str, str], int]


def keep_payloads(session: Session, drafts: Sequence[ActionDraft], largest: int) -> Kept:
    """Keep every payload and passage of the drafts; the rows by (SHA-256, media type). Refuses an action over `largest`."""
    contents: dict[tuple[str, str], Content] = {}
    for draft in drafts:
        own = [content_of(value) for value in _values(draft)]
        validation.check_size(sum(len(content.data) for content in own), largest)
        own += [content_of(text) for text in _texts_of_frames(draft)]
        if draft.source is not None:  # says the same again in another tool's words: kept, not counted
            own.append(content_of(draft.source))
        contents |= {(content.sha256, content.media_type): content for content in own}
    kept = keep(session.project_id, contents.values())
    return {name: kept[content] for name, content in contents.items()}


def action(session: Session, sequence: int, draft: ActionDraft, kept: Kept) -> Action:
    """The row of one action."""
    return Action(
        project_id=session.project_id,
        session=session,
        sequence=sequence,
        client_id=draft.id,
        label=label(draft),
        tags=list(draft.tags),
        recorded_at=now(),
        parent_id_given=draft.parent if isinstance(draft.parent, str) else None,
        parent_sequence=draft.parent if isinstance(draft.parent, int) else None,
        retrieval=_retrieval(draft.retrieval),
        **{name: getattr(draft, name) for name in COPIED},
        **{f"{name}_id": _row_of(getattr(draft, name), kept) for name in PAYLOADS},
        **_usage(draft.usage),
    )


def hits(action_row: Action, draft: ActionDraft, kept: Kept) -> list[Hit]:
    """The rows of the passages that were found."""
    return [
        Hit(
            action=action_row,
            rank=hit.rank,
            score=hit.score,
            scores=hit.scores,
            matched=hit.matched,
            frame=hit.frame,
            version=hit.version,
            title=hit.title,
            uri=hit.uri,
            metadata=hit.metadata,
            sha256=_hash_of(hit),
            payload_id=_row_of(hit.text, kept),
            stored_frame_id=hit.stored_frame,
        )
        for hit in _hits(draft)
    ]


def count(session: Session, actions: Sequence[Action]) -> None:
    """Add the actions to the session's counters.

    What no action recorded stays unrecorded; a call whose cost or saving is not known is counted as such.
    """
    session.last_sequence += len(actions)
    session.error_count += sum(
        1 for row in actions if row.error_type is not None or row.error_message is not None
    )
    session.input_tokens = together(session.input_tokens, *(row.input_tokens for row in actions))
    session.output_tokens = together(session.output_tokens, *(row.output_tokens for row in actions))
    session.cost_usd += sum(row.cost_usd for row in actions if row.cost_usd is not None)
    session.unknown_cost_calls += sum(1 for row in actions if has_unknown_cost(row))
    cached = [row for row in actions if row.cached]
    session.cached_calls += len(cached)
    session.saved_usd += sum(row.saved_usd for row in cached if row.saved_usd is not None)
    session.unknown_saved_calls += sum(1 for row in cached if row.saved_usd is None)
    session.last_action_at = now()


def _values(draft: ActionDraft) -> list[Any]:
    """What somebody sent: the payloads, and the texts of passages that are not from a collection of ours."""
    own = [value for value in (draft.input, draft.output) if value is not None]
    return own + [hit.text for hit in _hits(draft) if hit.text is not None and hit.stored_frame is None]


def _texts_of_frames(draft: ActionDraft) -> list[str]:
    """The texts of frames that were found here: they stand in their collection already, whatever their size."""
    return [hit.text for hit in _hits(draft) if hit.text is not None and hit.stored_frame is not None]


def _hits(draft: ActionDraft) -> Sequence[HitDraft]:
    return draft.retrieval.hits if draft.retrieval is not None else ()


def _row_of(value: Any, kept: Kept) -> int | None:
    if value is None:
        return None
    content = content_of(value)
    return kept[content.sha256, content.media_type]


def _hash_of(hit: HitDraft) -> str | None:
    if hit.sha256 is not None or hit.text is None:
        return hit.sha256
    return text_sha256(hit.text)


def _usage(usage: Usage | None) -> dict[str, int | None]:
    return {} if usage is None else {name: getattr(usage, name) for name in usage.__slots__}


def _retrieval(retrieval: RetrievalDraft | None) -> dict[str, Any] | None:
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
