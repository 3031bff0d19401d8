"""Redaction profiles over HTTP: create, list, change, retire and test."""

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api.access import Caller, caller
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.sessions.queries import session_of
from timemachine.recording.timeline.schemas.actions import action_out
from timemachine.text.redaction import commands
from timemachine.text.redaction.pure.profile import BUILT_IN, BUILT_IN_HANDLE
from timemachine.text.redaction.pure.projection import redact_action
from timemachine.text.redaction.pure.rules import Rules, read_rules
from timemachine.text.redaction.pure.text import redact_text
from timemachine.text.redaction.pure.values import tally_of
from timemachine.text.redaction.queries import profile_of, profile_row, profiles_of
from timemachine.text.redaction.schemas import (
    FindingOut,
    RedactedStep,
    RedactedText,
    RedactionChange,
    RedactionIn,
    RedactionOut,
    RedactionPage,
    RedactionTest,
    counts_of,
)

router = Router(tags=["redactions"])


@router.post("", response={201: RedactionOut}, summary="Create a redaction profile")
def make(request: HttpRequest, payload: RedactionIn) -> Status[RedactionOut]:
    """Create a profile, version 1. `rules` has `detect`, `phone_regions`, `patterns` (RE2) and `fields`."""
    who = caller(request, "admin")
    made = commands.make_profile(who.project, payload.name, read_rules(payload.rules), by=who.by)
    return Status(201, RedactionOut.of(made))


@router.get("", response=RedactionPage, summary="List redaction profiles")
def index(request: HttpRequest) -> RedactionPage:
    """The profiles that can be chosen: the built-in one, then the newest version of each of the project's own, by name."""
    own = profiles_of(caller(request, "read").project)
    items = [RedactionOut.built_in_profile(), *map(RedactionOut.of, own)]
    return RedactionPage.model_construct(items=items, next=None)


@router.post("/test", response=RedactedText | RedactedStep, summary="Preview what a profile would withhold")
def test(request: HttpRequest, payload: RedactionTest) -> RedactedText | RedactedStep:
    """The text or step as a reader would see it, with counts by rule. Nothing is stored."""
    who = caller(request, "read")
    rules = _rules(who, payload)
    if payload.text is not None:
        found = redact_text(payload.text, rules)
        return RedactedText.model_construct(
            text=found.text,
            findings=[FindingOut.from_attributes(each) for each in found.findings],
            counts=counts_of(tally_of(found.findings)),
        )
    if payload.session is None or payload.sequence is None:
        raise InvalidInput(
            "Send a `text`, or the `session` and `sequence` of a step.", code="invalid_field", field="text"
        )
    action = action_out(session_of(who.project, payload.session), payload.sequence)
    step = redact_action(action.model_dump(), rules)
    return RedactedStep.model_construct(
        action=step.document, touched=list(step.touched), counts=counts_of(step.tally)
    )


@router.get("/{redaction_id}", response=RedactionOut, summary="One redaction profile")
def read(request: HttpRequest, redaction_id: str) -> RedactionOut:
    """The version of that id, the newest of that name, or `built-in`."""
    project = caller(request, "read").project
    if redaction_id in (BUILT_IN_HANDLE, BUILT_IN.name):
        return RedactionOut.built_in_profile()
    return RedactionOut.of(profile_row(project, redaction_id))


@router.patch("/{redaction_id}", response=RedactionOut, summary="Change a redaction profile")
def change(request: HttpRequest, redaction_id: str, payload: RedactionChange) -> RedactionOut:
    """Create the next version of a profile. Existing uses keep their version."""
    who = caller(request, "admin")
    row = profile_row(who.project, redaction_id)
    return RedactionOut.of(commands.change_profile(row, read_rules(payload.rules), by=who.by))


@router.delete("/{redaction_id}", response=RedactionOut, summary="Retire a redaction profile")
def retire(request: HttpRequest, redaction_id: str) -> RedactionOut:
    """Retire a profile so that it can no longer be chosen. Existing uses keep its rules."""
    who = caller(request, "admin")
    return RedactionOut.of(commands.retire_profile(profile_row(who.project, redaction_id), by=who.by))


def _rules(who: Caller, payload: RedactionTest) -> Rules:
    if payload.rules is not None:
        return read_rules(payload.rules)
    return profile_of(who.project, payload.redaction).rules
