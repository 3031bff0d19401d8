"""What was recalled, as the JSON document of the API."""

from typing import Any

from timemachine.core.pure.clock import written
from timemachine.knowledge.embedding.wordllama import TOKENIZER_NAME
from timemachine.memory.recall.empty_results import why_nothing
from timemachine.memory.recall.prompt_text import prompt_of
from timemachine.memory.recall.queries import Answer, Recalled, Recollection, TimeRead
from timemachine.memory.recall.questions import Wanted
from timemachine.memory.search.document import hit_json
from timemachine.memory.search.indexing import MODEL
from timemachine.memory.transcripts.pure.selection import gaps


def recollection_json(found: Recollection) -> dict[str, Any]:
    """`items`, one for each query, and a `text` for a prompt where it was asked for by a `budget`."""
    by_meaning = found.wanted.mode != "text" and not found.no_embeddings
    document: dict[str, Any] = {
        "items": [_answer_json(answer, found.wanted) for answer in found.answers],
        "mode": found.wanted.mode,
        "embedding_model": MODEL.name if by_meaning else None,
        "no_embeddings": found.no_embeddings,
        "not_indexed": found.not_indexed,
        "time_zone": found.wanted.time_zone,
    }
    return document | (_prompt_json(found, found.wanted.budget) if found.wanted.budget else {})


def _answer_json(answer: Answer, wanted: Wanted) -> dict[str, Any]:
    return {
        "query": answer.query,
        "looked_for": answer.looked_for,
        "times": [_time_json(time) for time in answer.times],
        "unread": [
            {"words": each.words, "start": each.start, "end": each.end, "why": each.why}
            for each in answer.unread
        ],
        "ranked_by": answer.ranked_by,
        "results": [_recalled_json(each) for each in answer.results],
        "nothing": why_nothing(answer, wanted),
    }


def _time_json(time: TimeRead) -> dict[str, Any]:
    """The words, which characters of the query they are, and from when until when that is; `until` is the first moment behind it."""
    sessions = [
        {"id": str(session.id), "key": session.key, "name": session.name} for session in time.sessions
    ]
    return {
        "words": time.reading.words,
        "start": time.reading.start,
        "end": time.reading.end,
        "from": written(time.begin),
        "until": written(time.until),
        "session": sessions[0] if sessions else None,
        "sessions": sessions,
        "previous_session": time.reading.previous_session,
        "relation": time.reading.how or "within",
    }


def _recalled_json(recalled: Recalled) -> dict[str, Any]:
    session, action = recalled.session, recalled.hit.action
    about = {
        "session": {
            "id": str(session.id),
            "key": session.key,
            "name": session.name,
            "agent": session.agent,
            "user": session.user,
            "status": session.status,
            "started_at": written(session.began_at),
            "turns": session.last_sequence,
        },
        "role": action.role,
        "significance": recalled.significance,
        "importance": recalled.importance,
        "tags": action.tags,
        "at": written(action.started_at or action.recorded_at),
    }
    return about | hit_json(recalled.hit) | ({"around": _around_json(recalled)} if recalled.around else {})


def _around_json(recalled: Recalled) -> dict[str, Any]:
    """The turns around, in order, with how many of the session are left out before each and behind the last."""
    told = [row.turn.sequence for row in recalled.around]
    *before, behind = gaps(told, max(recalled.session.last_sequence, told[-1]))
    items = [
        row.document | {"left_out_before": missing, "cut": row.cut}
        for row, missing in zip(recalled.around, before, strict=True)
    ]
    return {"items": items, "left_out_after": behind}


def _prompt_json(found: Recollection, budget: int) -> dict[str, Any]:
    prompt = prompt_of(found, budget)
    return {
        "text": prompt.text,
        "told": {"turns": prompt.turns, "sessions": prompt.sessions},
        "tokens": {
            "kept": prompt.tokens,
            "budget": budget,
            "tokenizer": TOKENIZER_NAME,
            "estimated": prompt.estimated,
            "least": prompt.least,
        },
    }
