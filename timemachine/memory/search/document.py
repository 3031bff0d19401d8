"""What a search found, as the JSON document of the API."""

from typing import Any

from timemachine.core.pure.clock import written
from timemachine.memory.search.empty_results import why_nothing
from timemachine.memory.search.hits import Hit
from timemachine.memory.search.indexing import MODEL
from timemachine.memory.search.queries import Found, Group

LEGS = {"text": "words", "semantic": "meaning"}


def found_json(found: Found) -> dict[str, Any]:
    """A page of sessions, each with its best steps, why each was found, and what the search could not see."""
    return {
        "items": [_group_json(group) for group in found.groups],
        "next": found.next,
        "mode": found.wanted.mode,
        "embedding_model": None if found.wanted.mode == "text" or found.no_embeddings else MODEL.name,
        "no_embeddings": found.no_embeddings,
        "too_common": found.too_common,
        "nothing": why_nothing(found),
        "not_indexed": found.not_indexed,
    }


def _group_json(group: Group) -> dict[str, Any]:
    session = group.session
    return {
        "session": {
            "id": str(session.id),
            "key": session.key,
            "name": session.name,
            "agent": session.agent,
            "status": session.status,
            "started_at": written(session.began_at),
        },
        "matches": group.number,
        "more": group.more,
        "hits": [hit_json(hit) for hit in group.hits],
    }


def hit_json(hit: Hit) -> dict[str, Any]:
    """`marks` are the first and the last-but-one character of each marked run of the passage."""
    action, passage = hit.action, hit.passage
    failed = action.error_type is not None or action.error_message is not None
    return {
        "sequence": action.sequence,
        "kind": action.kind,
        "label": action.label,
        "name": action.name,
        "tool": action.tool,
        "agent": action.agent,
        "model": action.model,
        "failed": failed,
        "started_at": written(action.started_at),
        "score": hit.score,
        "scores": hit.scores,
        "found_by": [LEGS[name] for name in hit.scores],
        "passage": None
        if passage is None
        else {
            "in": passage.part,
            "text": passage.text,
            "marks": [list(each) for each in hit.marks],
            "begins": passage.begins,
            "ends": passage.ends,
        },
        "cut": hit.cut,
        "address": f"/sessions/{action.session_id}/?step={action.sequence}",
    }
