"""What needs no session: grounding an answer, the key's project, the demo."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import schemas
from timemachine.api.access import caller
from timemachine.core.pure.errors import TooLarge
from timemachine.jobs.queue import enqueue
from timemachine.management.demo import commands as demo
from timemachine.recording.answering.model_asks import ContextPassage, grounding_of
from timemachine.replay.tasks import run_replay
from timemachine.text.pure.grounding import bounds

router = Router()


@router.post("/ground", tags=["judge"], summary="Ground an answer")
def ground(request: HttpRequest, payload: schemas.GroundIn) -> dict[str, Any]:
    """How far an answer is supported by its context, sentence by sentence; for `items`, a list of that in their order.

    Of an answer at most 20,000 characters and 500 sentences are read, of each passage 20,000 characters, of all passages together
    100,000 and 2,500 sentences. `unread_characters` says how many were left; an answer with such a rest is never HIGH. A
    request has at most 200 items with 1,000 passages each, and 120,000 characters that are to be read.
    """
    caller(request, "read")
    answers = payload.answers()
    _refuse_too_much(answers)
    found = [_grounding(each) for each in answers]
    return found[0] if payload.items is None else {"items": found, "next": None}


def _refuse_too_much(answers: Sequence[schemas.AnswerIn]) -> None:
    asked = sum(bounds.readable(each.answer, each.context) for each in answers)
    if asked > bounds.REQUEST:
        raise TooLarge(
            f"The answers and passages of one request hold at most {bounds.REQUEST:,} characters; these hold {asked:,}. "
            "Send fewer items at once.",
            limit=bounds.REQUEST,
            characters=asked,
        )


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
        enqueue(run_replay, replay_id)
    return Status(201, made.as_json())


@router.delete("/demo", tags=["demo"], summary="Remove the demo")
def remove_demo(request: HttpRequest) -> dict[str, Any]:
    """Remove all that the demo made."""
    return {"removed": demo.remove(caller(request, "record").project)}
