"""Redaction profiles over HTTP: make, list, change, retire, and see what one would withhold."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api import schemas
from timemachine.api.access import Caller, caller
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.queries import action_of, session_of
from timemachine.recording.timeline.actions import with_everything
from timemachine.recording.timeline.schemas.actions import ActionOut
from timemachine.text.redaction import commands
from timemachine.text.redaction.document import built_in_json, profile_json, tally_json
from timemachine.text.redaction.pure.profile import BUILT_IN, BUILT_IN_HANDLE
from timemachine.text.redaction.pure.projection import redact_action
from timemachine.text.redaction.pure.rules import Rules, read_rules
from timemachine.text.redaction.pure.text import redact_text
from timemachine.text.redaction.pure.values import tally_of
from timemachine.text.redaction.queries import profile_of, profile_row, profiles_of

router = Router(tags=["redactions"])


@router.post("", response={201: dict[str, Any]}, summary="Make a redaction profile")
def make(request: HttpRequest, payload: schemas.RedactionIn) -> Status[dict[str, Any]]:
    """A new profile, version 1. `rules` has `detect`, `phone_regions`, `patterns` (RE2) and `fields`."""
    who = caller(request, "admin")
    made = commands.make_profile(who.project, payload.name, read_rules(payload.rules), by=who.by)
    return Status(201, profile_json(made))


@router.get("", summary="List redaction profiles")
def index(request: HttpRequest) -> dict[str, Any]:
    """What can be chosen: the profile that every project has, then the newest version of each of its own, by name."""
    own = profiles_of(caller(request, "read").project)
    return {"items": [built_in_json(), *(profile_json(each) for each in own)], "next": None}


@router.post("/test", summary="What a profile would withhold")
def test(request: HttpRequest, payload: schemas.RedactionTest) -> dict[str, Any]:
    """The text, or the step of a session, as somebody would read it, with counts by rule. Nothing of it is kept."""
    who = caller(request, "read")
    rules = _rules(who, payload)
    if payload.text is not None:
        found = redact_text(payload.text, rules)
        spans = [
            {"start": each.start, "end": each.end, "rule": each.rule, "what": each.what}
            for each in found.findings
        ]
        return {"text": found.text, "findings": spans, "counts": tally_json(tally_of(found.findings))}
    if payload.session is None or payload.sequence is None:
        raise InvalidInput(
            "Send a `text`, or the `session` and `sequence` of a step.", code="invalid_field", field="text"
        )
    session = session_of(who.project, payload.session)
    sequence = action_of(session, payload.sequence).sequence
    action = with_everything(session.actions.filter(sequence=sequence)).get()
    step = redact_action(ActionOut.of(action).model_dump(), rules)
    return {"action": step.document, "touched": list(step.touched), "counts": tally_json(step.tally)}


@router.get("/{redaction_id}", summary="One redaction profile")
def read(request: HttpRequest, redaction_id: str) -> dict[str, Any]:
    """The version of that id, the newest of that name, or `built-in`."""
    project = caller(request, "read").project
    if redaction_id in (BUILT_IN_HANDLE, BUILT_IN.name):
        return built_in_json()
    return profile_json(profile_row(project, redaction_id))


@router.patch("/{redaction_id}", summary="Change a redaction profile")
def change(request: HttpRequest, redaction_id: str, payload: schemas.RedactionChange) -> dict[str, Any]:
    """The next version of a profile. What was made with an earlier version keeps it."""
    who = caller(request, "admin")
    row = profile_row(who.project, redaction_id)
    return profile_json(commands.change_profile(row, read_rules(payload.rules), by=who.by))


@router.delete("/{redaction_id}", summary="Retire a redaction profile")
def retire(request: HttpRequest, redaction_id: str) -> dict[str, Any]:
    """Take it out of what can be chosen. What was made with it keeps its rules."""
    who = caller(request, "admin")
    return profile_json(commands.retire_profile(profile_row(who.project, redaction_id), by=who.by))


def _rules(who: Caller, payload: schemas.RedactionTest) -> Rules:
    if payload.rules is not None:
        return read_rules(payload.rules)
    return profile_of(who.project, payload.redaction).rules
