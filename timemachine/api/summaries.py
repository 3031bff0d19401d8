"""Summaries of a session over HTTP: make one, list them."""

from typing import Any

from django.http import HttpRequest
from ninja import Status

from timemachine.api import routers
from timemachine.api.access import caller
from timemachine.core.pure.clock import written
from timemachine.core.pure.numbers import dollars
from timemachine.core.pure.schemas import Strict
from timemachine.jobs.queue import enqueue
from timemachine.knowledge.tasks import embed_backlog
from timemachine.memory.transcripts.summarising import EXTRACTIVE, summaries_of, summarise
from timemachine.recording.answering.models import SessionSummary
from timemachine.recording.sessions.queries import session_of

PATH = "/{session_id}/summaries"
MOST = 200


class SummaryIn(Strict):
    """Into which collection, the session's own where none is named, and who writes it."""

    collection: str = ""
    use_model: str = EXTRACTIVE


@routers.sessions.post(
    PATH,
    response={201: dict[str, Any]},
    tags=["memory"],
    summary="Put a summary of a session into a collection",
)
def make(request: HttpRequest, session_id: str, payload: SummaryIn) -> Status[dict[str, Any]]:
    """One frame that is found like any other, with the steps it rests on. `local:extractive-5` quotes the turns that matter most; a named
    model is given the turns that fit into 6,000 tokens, and costs what it costs. Made again, it is a new version of the same frame. It needs the scopes `run` and `record`.
    """
    caller(request, "record")
    who = caller(request, "run")
    session = session_of(who.project, session_id)
    made = summarise(session, by=who.by, collection=payload.collection, use_model=payload.use_model)
    enqueue(embed_backlog, made.collection_id)
    return Status(201, summary_json(made))


@routers.sessions.get(PATH, tags=["memory"], summary="The summaries of a session")
def index(request: HttpRequest, session_id: str) -> dict[str, Any]:
    """Which frames of which collections have a summary of the session, the latest first."""
    session = session_of(caller(request, "read").project, session_id)
    return {"items": [summary_json(each) for each in summaries_of(session)[:MOST]], "next": None}


def summary_json(made: SessionSummary) -> dict[str, Any]:
    """Where the summary is, who wrote it of what, and what that cost; `unknown_steps` are named in it and were never told."""
    return {
        "id": str(made.id),
        "collection": made.collection.name,
        "frame": made.number,
        "version": made.version,
        "model": made.model,
        "prompt_template": made.prompt_template,
        "through_sequence": made.through,
        "steps": made.steps,
        "unknown_steps": made.unknown_steps,
        "usage": made.usage,
        "cost_usd": dollars(made.cost_usd),
        "prices": made.prices,
        "by": made.by,
        "at": written(made.at),
    }
