"""What programs get: each thing as the JSON document of the contract."""

from typing import Any

from django.conf import settings
from django.urls import reverse

from timemachine.core.payloads.queries import text
from timemachine.core.pure.clock import written
from timemachine.knowledge.models import Collection, Frame, Source, SourcePassage
from timemachine.knowledge.replacing import MOST_NAMED
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.queries import edited_beside_it, ended_by
from timemachine.recording.sessions.frame_usage import Usage


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
