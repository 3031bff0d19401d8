"""What needs no session: grounding an answer, the key's project, the demo."""

from importlib.metadata import version
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.answering.asking import ContextPassage, grounding_of
from timemachine.api import schemas
from timemachine.api.access import caller
from timemachine.demo import commands as demo
from timemachine.jobs import ring

router = Router()


@router.post("/ground", tags=["judge"], summary="Ground an answer")
def ground(request: HttpRequest, payload: schemas.GroundIn) -> dict[str, Any]:
    """How far an answer is supported by its context, sentence by sentence; for `items`, a list of that in their order."""
    caller(request, "read")
    found = [_grounding(each) for each in payload.answers()]
    return found[0] if payload.items is None else {"items": found, "next": None}


def _grounding(asked: schemas.AnswerIn) -> dict[str, Any]:
    passages = [
        ContextPassage(frame=number, title="", text=text) for number, text in enumerate(asked.context)
    ]
    return grounding_of(asked.answer, passages)


@router.get("/project", tags=["project"], summary="The key's project")
def project(request: HttpRequest) -> dict[str, Any]:
    """The project that the key belongs to, what the key may do, and the server's version."""
    who = caller(request, "read")
    return {
        "id": str(who.project.pk),
        "name": who.project.name,
        "scopes": list(who.key.scopes),
        "version": version("timemachine"),
    }


@router.post("/demo", response={201: dict[str, Any]}, tags=["demo"], summary="Load the demo")
def load_demo(request: HttpRequest) -> Status[dict[str, Any]]:
    """Make the demo in this project, or say where it is."""
    who = caller(request, "record")
    made = demo.load(who.project, by=who.by)
    for replay_id in made.replays:
        ring(replay_id)
    return Status(201, made.as_json())


@router.delete("/demo", tags=["demo"], summary="Remove the demo")
def remove_demo(request: HttpRequest) -> dict[str, Any]:
    """Remove all that the demo made."""
    return {"removed": demo.remove(caller(request, "record").project)}
