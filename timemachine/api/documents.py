"""What programs get: each thing as the JSON document of the contract."""

from typing import Any

from django.conf import settings
from django.urls import reverse

from timemachine.core.payloads.queries import text
from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.knowledge.find import Findings, Found
from timemachine.knowledge.models import Collection, Frame, Source, SourcePassage
from timemachine.knowledge.replacing import MOST_NAMED
from timemachine.llm.pure.completion import is_cut_off, is_refused
from timemachine.recording.answering.commands import AskDone, FindDone
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.queries import edited_beside_it, ended_by
from timemachine.recording.sessions.frame_usage import Usage
from timemachine.recording.sessions.models import Session


def _parent_deleted(session: Session) -> dict[str, Any] | None:
    if not session.has_lost_parent:
        return None
    erased = session.parent_erased
    return {"session": None if erased is None else str(erased), "sequence": session.parent_sequence}


def _parent_awaited(session: Session) -> dict[str, Any] | None:
    if session.parent_id is not None or session.parent_key is None:
        return None
    return {"key": session.parent_key, "sequence": session.parent_sequence}


def session_json(session: Session) -> dict[str, Any]:
    """A session: what it is called, and what its actions add up to."""
    return {
        "id": str(session.id),
        "key": session.key,
        "name": session.name,
        "agent": session.agent,
        "user": session.user,
        "collection": session.collection.name if session.collection else None,
        "status": session.status,
        "parent": _parent(session),
        "parent_deleted": _parent_deleted(session),
        "parent_awaited": _parent_awaited(session),
        "metadata": session.metadata,
        "tags": session.tags,
        "created_at": written(session.created_at),
        "created_by": session.created_by,
        "started_at": written(session.began_at),
        "ended_at": written(session.ended_at),
        "imported_as": session.imported_as,
        "actions": session.last_sequence,
        "errors": session.error_count,
        "input_tokens": session.input_tokens,
        "output_tokens": session.output_tokens,
        "cost_usd": dollars(session.cost_usd),
        "unknown_cost_calls": session.unknown_cost_calls,
        "cached_calls": session.cached_calls,
        "saved_usd": dollars(session.saved_usd),
        "unknown_saved_calls": session.unknown_saved_calls,
        "url": f"{settings.PUBLIC_URL}/sessions/{session.id}/",
    }


def collection_json(collection: Collection) -> dict[str, Any]:
    """A collection, with the number of its current frames where that was asked for."""
    return {
        "name": collection.name,
        "frames": getattr(collection, "frame_count", None),
        "embedding_model": collection.embedding_model,
        "created_at": written(collection.created_at),
        "created_by": collection.created_by,
    }


def frame_json(frame: Frame) -> dict[str, Any]:
    """One version of a frame, whole."""
    return {
        "frame": frame.number,
        "version": frame.version,
        "title": frame.title,
        "uri": frame.uri,
        "metadata": frame.metadata,
        "sha256": frame.sha256,
        "text": text(frame.payload),
        "valid_from": written(frame.valid_from),
        "valid_until": written(frame.valid_until),
        "ended_by": frame.ended_by,
        "deleted_by": frame.deleted_by,
        "put_by": frame.put_by,
        "source": _place(frame),
    }


def source_json(source: Source) -> dict[str, Any]:
    """A file whose passages were put; its text and bytes are behind `url`."""
    return {
        "id": str(source.id),
        "name": source.name,
        "title": source.title,
        "uri": source.uri,
        "media_type": source.media_type,
        "sha256": source.sha256,
        "left_out": source.left_out,
        "put_by": source.put_by,
        "created_at": written(source.created_at),
        "url": source_url(source),
    }


def source_url(source: Source) -> str:
    """The page that shows the file's text."""
    return f"{settings.PUBLIC_URL}{reverse('source', args=[source.collection.name, source.id])}"


def intake_json(intake: Intake) -> dict[str, Any]:
    """A file on its way into a collection: how far it is, and what it came to. `total` is null until the file was read."""
    failed = intake.error_code is not None
    edited = edited_beside_it(intake)
    return {
        "id": str(intake.id),
        "collection": intake.collection.name,
        "session": str(intake.session_id) if intake.session_id else None,
        "name": intake.name,
        "title": intake.title,
        "uri": intake.uri,
        "replace": intake.replace,
        "status": intake.status,
        "done": intake.done,
        "total": intake.total,
        "report": {
            "new": intake.new,
            "already_there": intake.already_there,
            "ended": intake.ended,
            "ended_frames": [each.as_json() for each in ended_by(intake)],
            "edited": len(edited),
            "edited_frames": [each.as_json() for each in edited[:MOST_NAMED]],
            "skipped": intake.skipped,
        },
        "error": {"code": intake.error_code, "message": intake.error_message} if failed else None,
        "source": str(intake.source_id) if intake.source_id else None,
        "put_by": intake.put_by,
        "created_at": written(intake.created_at),
        "finished_at": written(intake.finished_at),
        "url": f"{settings.PUBLIC_URL}{reverse('intake', args=[intake.id])}",
    }


def place_json(place: SourcePassage) -> dict[str, Any]:
    """A file that has a version of a frame as its passage, and where."""
    frame, source = place.frame, place.source
    return {
        "id": str(source.id),
        "name": source.name,
        "uri": source.uri,
        "created_at": written(source.created_at),
        "version": frame.version,
        "start": place.start,
        "end": place.end,
        "url": f"{source_url(source)}?frame={frame.number}&version={frame.version}",
    }


def _place(frame: Frame) -> dict[str, Any] | None:
    """Where in which file the passage stood, in characters of the file's text; `url` shows it there."""
    source = frame.source
    if source is None:
        return None
    where = reverse("source", args=[frame.collection.name, source.id])
    return {
        "id": str(source.id),
        "name": source.name,
        "title": source.title,
        "uri": source.uri,
        "media_type": source.media_type,
        "start": frame.source_start,
        "end": frame.source_end,
        "page": frame.metadata.get("page"),
        "url": f"{settings.PUBLIC_URL}{where}?frame={frame.number}&version={frame.version}",
    }


def used_by_json(usage: Usage) -> dict[str, Any]:
    """The sessions that used a frame, the latest first; where `at_least`, there may be more of them and of their steps."""
    sessions = [
        {
            "session": str(each.session),
            "key": each.key,
            "name": each.name,
            "steps": each.steps,
            "last_step": each.step,
            "last_used_at": written(each.at),
            "url": f"{settings.PUBLIC_URL}/sessions/{each.session}/?step={each.step}",
        }
        for each in usage.used_by
    ]
    return {"sessions": sessions, "count": usage.sessions, "steps": usage.steps, "at_least": usage.more}


def hit_json(hit: Found) -> dict[str, Any]:
    """One passage that was found."""
    return {
        "rank": hit.rank,
        "score": hit.score,
        "scores": hit.scores,
        "frame": hit.frame,
        "version": hit.version,
        "title": hit.title,
        "uri": hit.uri,
        "metadata": hit.metadata,
        "sha256": hit.sha256,
        "text": hit.text,
        "matched": hit.matched.as_json(),
    }


def find_json(done: FindDone) -> dict[str, Any]:
    """What a find came to. `empty` is null, or says why nothing could be found: the collection had no frames at that moment."""
    return {**findings_json(done.findings), "empty": _empty_json(done), "sequence": done.sequence}


def ask_json(done: AskDone) -> dict[str, Any]:
    """What an ask came to; `empty` as of a find."""
    answered = done.answered
    return {
        "answer": answered.text,
        "model": answered.model,
        "parameters": answered.parameters,
        "finish_reason": answered.parameters.get("finish_reason"),
        "cut_off": is_cut_off(answered.parameters.get("finish_reason")),
        "refused": is_refused(answered.parameters.get("finish_reason")),
        "usage": usage_json(answered.usage),
        "cost_usd": dollars(answered.cost_usd),
        "prices": answered.prices,
        "grounding": answered.grounding,
        "cached": answered.cached,
        "saved_usd": dollars(answered.saved_usd),
        "cached_from": answered.cached_from,
        "duration_ms": answered.duration_ms,
        **findings_json(done.findings),
        "empty": _empty_json(done),
        "sequence": done.sequence,
    }


def _empty_json(done: FindDone | AskDone) -> dict[str, str | None] | None:
    return None if done.empty is None else done.empty.as_json()


def usage_json(usage: Any) -> dict[str, Any] | None:
    """Token counts by their names; None where nothing is known."""
    return None if usage is None else {name: getattr(usage, name) for name in usage.__slots__}


def findings_json(findings: Findings) -> dict[str, Any]:
    """What was found, and how."""
    return {
        "hits": [hit_json(hit) for hit in findings.hits],
        "mode": findings.query.mode,
        "top_k": findings.query.top_k,
        "adaptive": findings.query.adaptive,
        "cut_by": findings.cut_by,
        "as_of": written(findings.as_of),
        "embedding_model": findings.embedding_model,
        "semantic_search": findings.semantic_search,
        "curve": findings.curve.as_json(),
        "below": findings.below.as_json() if findings.below else None,
        "not_embedded": findings.not_embedded,
        "thresholds": findings.thresholds.as_json() if findings.thresholds else None,
        "min_score": findings.query.min_score,
    }


def _parent(session: Session) -> dict[str, Any] | None:
    if session.parent_id is None:
        return None
    return {"session": str(session.parent_id), "sequence": session.parent_sequence}
