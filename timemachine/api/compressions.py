"""Compression over HTTP: of one session with its preview, of all that are older than so many days, and the rule of the project."""

from typing import Any

from django.http import HttpRequest
from ninja import Router
from pydantic import Field

from timemachine.api import routers
from timemachine.api.access import caller
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.core.pure.schemas import Strict
from timemachine.memory.transcripts.compressing import effect_on
from timemachine.recording.annotations.significance import compression
from timemachine.recording.annotations.significance.compression import MOST_DAYS
from timemachine.recording.annotations.significance.document import compression_change_json
from timemachine.recording.annotations.significance.queries import compression_of, compressions_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of

router = Router(tags=["memory"])
PATH = "/{session_id}/compression"


class OlderIn(Strict):
    """Sessions that ended so many days ago or more; with `preview` nothing is done yet."""

    older_than_days: int = Field(ge=1, le=MOST_DAYS)
    preview: bool = False


class RuleIn(Strict):
    """After how many days behind their end sessions are compressed by themselves; null for never."""

    days: int | None = Field(ge=1, le=MOST_DAYS)


@routers.sessions.get(PATH, tags=["memory"], summary="What compressing a session does, or did")
def read(request: HttpRequest, session_id: str) -> dict[str, Any]:
    """How many turns and tokens stay and how many fall to an importance of 0.30, whether the session is compressed, and the history of that."""
    return _document(session_of(caller(request, "read").project, session_id))


@routers.sessions.post(PATH, tags=["memory"], summary="Compress a session")
def compress(request: HttpRequest, session_id: str) -> dict[str, Any]:
    """From now on its exploratory turns count 0.30; its decisions, solutions and breakthroughs stay as they are, and so does the record.

    The session must have ended. Sent again it changes nothing.
    """
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    compression.compress(session, by=who.by)
    return _document(session)


@routers.sessions.delete(PATH, tags=["memory"], summary="Undo the compression of a session")
def undo(request: HttpRequest, session_id: str) -> dict[str, Any]:
    """Every turn counts again what it counted before. The rule of the project leaves such a session alone from then on."""
    who = caller(request, "record")
    session = session_of(who.project, session_id)
    compression.undo(session, by=who.by)
    return _document(session)


@router.post("", summary="Compress what is older")
def compress_older(request: HttpRequest, payload: OlderIn) -> dict[str, Any]:
    """Compress every session of the project that ended so many days ago or more, without those for which somebody undid it."""
    who = caller(request, "admin")
    if payload.preview:
        found = compression.older_than(who.project, payload.older_than_days)
        return {"sessions": found.count(), "compressed": False}
    done = compression.compress_older(who.project, payload.older_than_days, by=who.by)
    return {"sessions": done, "compressed": True}


@router.get("/rule", summary="The rule of the project")
def rule(request: HttpRequest) -> dict[str, Any]:
    """After how many days behind their end the project's sessions are compressed; null for never."""
    return _rule(caller(request, "read").project)


@router.put("/rule", summary="Set the rule of the project")
def set_rule(request: HttpRequest, payload: RuleIn) -> dict[str, Any]:
    """A worker follows it within the hour. What is compressed stays so when the rule goes."""
    who = caller(request, "admin")
    compression.set_rule(who.project, payload.days, by=who.by)
    return _rule(who.project)


def _rule(project: Project) -> dict[str, Any]:
    found = compression.rule_of(project)
    return {
        "days": found and found.days,
        "by": found and found.by,
        "at": written(found.at) if found else None,
    }


def _document(session: Session) -> dict[str, Any]:
    effect, now = effect_on(session), compression_of(session)
    return {
        "compressed": now is not None,
        "through": now and now.through,
        "kept": {"turns": effect.kept.turns, "tokens": effect.kept.tokens},
        "falls": {"turns": effect.falls.turns, "tokens": effect.falls.tokens},
        "estimated": effect.estimated,
        "history": [compression_change_json(each) for each in compressions_of(session)[:50]],
    }
