"""Two projects: every page and every operation of the API that names something of the other project is a 404.

The addresses come from the URL configuration and from the OpenAPI document, so that a new one without a case fails.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from tests.api.conftest import Program, program
from tests.builders import QUESTIONS, compared, recorded_session, replayed
from tests.core.accounts.people import member
from tests.memory.patterns.recorded import failed
from tests.memory.patterns.recorded import read as read_patterns
from tests.memory.patterns.recorded import session_of as session_with
from tests.web.routes import Route, every_route
from timemachine.core.accounts.commands.projects import invite
from timemachine.core.accounts.models import BrowserSession, Project, SecondFactor, SignInLink
from timemachine.evidence.sealing.seals import seal_session
from timemachine.recording.importing.worker import hand_in
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions

ONE, THREE = "local:extractive-1", "local:extractive-3"
CANARY = "kanarie"
# These name nothing of a project: a secret, a provider, a signal that is not accepted, what visitors open with a link (see sharing/test_scope.py).
OF_NO_PROJECT = re.compile(r"^(sign-in|share|v1)/|^(api|settings)/models/keys/<")
# A put creates a collection of that name in the caller's own project.
CREATES_ITS_OWN = {("POST", "/api/collections/{name}/put"), ("POST", "/api/collections/{name}/files")}
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherProject:
    """A project with one of everything: the ids for its addresses, by the part of the address before each."""

    project: Project
    key: str
    browser: Client
    named: dict[str, str]

    def at(self, written: str) -> str:
        """Return the address in this project for a route pattern."""
        parts: list[str] = []
        for part in written.split("/"):
            before = parts[-1] if parts else ""
            parts.append(PARAMETER.sub(partial(self._value, before), part))
        return "/".join(parts)

    def _value(self, before: str, found: re.Match[str]) -> str:
        name = found[1] or found[2]
        for known in (before, name):
            if known in self.named:
                return self.named[known]
        raise AssertionError(f"{before}/{found[0]} needs a case here")


def created(answer: Any) -> Any:
    assert answer.status_code in {200, 201, 202}, answer.content
    return answer.json()


@pytest.fixture(scope="module")
def theirs_once(shared_rows: None) -> Iterator[OtherProject]:
    with override_settings(MODEL_HOSTS_ALLOWED=["127.0.0.1"]):
        yield everything_in(Project.objects.create(name="Somebody else's"))


@pytest.fixture
def theirs(theirs_once: OtherProject, db: None) -> OtherProject:
    return theirs_once


def everything_in(other_project: Project) -> OtherProject:
    admin = member(other_project, "admin", f"{CANARY}@example.org", password=None)
    browser = Client()
    browser.force_login(admin.user)
    api = program(other_project)
    session = recorded_session(other_project, key=CANARY, questions=QUESTIONS[:1])
    replay = replayed(session, ReplayOptions(audit=True, reason=CANARY))
    seal_session(session.id)
    comparison = compared(other_project, [session], ONE, THREE)
    cell = ReplayStep.objects.filter(replay__run__comparison=comparison).earliest("id")
    ask = Action.objects.filter(session=session, kind="ask").select_related("input").earliest("sequence")
    assert ask.input is not None
    suite = created(
        api.post("/suites", {"name": CANARY, "sessions": [CANARY], "options": {"audit": True, "reason": "x"}})
    )
    created(api.post(f"/suites/{suite['id']}/runs"))
    source = created(
        api.client.post(
            "/api/collections/handbook/files",
            {"file": SimpleUploadedFile(f"{CANARY}.md", b"# One\n\nText.\n")},
            headers={"Authorization": f"Bearer {api.key}"},
        )
    )["source"]["id"]
    invite(other_project, email="new@example.org", role="viewer")
    rules = {"detect": ["email"]}
    rule = created(api.post("/patterns/rules", {"sessions": 2, "window": "week"}))["id"]
    for _ in range(2):
        session_with(other_project, failed(f"the bird {CANARY} did not come home"))
    read_patterns(other_project)
    named = {
        "patterns": created(api.get("/patterns"))["items"][0]["id"],
        "rules": rule,
        "alerts": created(api.get("/patterns/alerts"))["items"][0]["id"],
        "sessions": str(session.id),
        "replays": str(replay.id),
        "comparisons": str(comparison.id),
        "cells": str(cell.id),
        "suites": suite["id"],
        "runs": "1",
        "sweeps": created(api.post(f"/sessions/{CANARY}/sweeps", {"top_k": [2, 4]}))["sweep_id"],
        "notes": created(api.post(f"/sessions/{CANARY}/notes", {"sequence": 1, "text": CANARY}))["id"],
        "shares": created(api.post("/shares", {"target_type": "session", "target_id": CANARY}))["id"],
        "redactions": created(api.post("/redactions", {"name": CANARY, "rules": rules}))["id"],
        "erasures": created(api.post(f"/sessions/{CANARY}/erasures", {"fields": ["tags"]}))["id"],
        "holds": created(api.post("/holds", {"sessions": [CANARY], "reason": "x"}))["id"],
        "forgettings": created(api.post("/forgettings", {"filter": {"named": CANARY}}))["id"],
        "retention": created(api.post("/retention", {"days": 400}))["id"],
        "checks": created(api.post(f"/sessions/{CANARY}/seal/check"))["id"],
        "keys": created(api.post("/keys", {"name": CANARY, "scopes": ["read"]}))["id"],
        "servers": created(
            api.post("/models/servers", {"name": "linnet", "base_url": "http://127.0.0.1:9/v1"})
        )["name"],
        "collections": "handbook",
        "sources": source,
        "frames": "0",
        "versions": "1",
        "version": "1",
        "steps": str(ask.sequence),
        "actions": str(ask.sequence),
        "payloads": ask.input.sha256,
        "images": "0",
        "export": "timemachine",
        "transcript": "text",
        "form": "csv",
        "members": str(admin.pk),
        "second-factor": str(
            SecondFactor.objects.create(user=admin.user, kind="app", name=CANARY, secret=b"").pk
        ),
        "browsers": BrowserSession.objects.get(user=admin.user).public_id,
        "invitations": str(SignInLink.objects.get(purpose="invite").pk),
        "intakes": str(uuid4()),
        "imports": str(hand_in(other_project, b'{"messages": [{"role": "user"}]}', by=CANARY).id),
        "asks": str(uuid4()),
        "cancel": str(uuid4()),
        "judgements": str(uuid4()),
    }
    named["redaction"] = named["redactions"]
    return OtherProject(project=other_project, key=api.key, browser=browser, named=named)


def status_of(answer: Any) -> int:
    """Return the status of an answer after reading it to its end, as a download must be before its file is closed."""
    if answer.streaming:
        answer.getvalue()
    status: int = answer.status_code
    return status


def pages() -> Iterator[Route]:
    for route in every_route():
        if (
            route.parameters
            and not route.written.startswith("api/")
            and not OF_NO_PROJECT.match(route.written)
        ):
            yield route


@pytest.fixture
def ours(project: Project) -> Client:
    browser = Client()
    browser.force_login(member(project, "admin").user)
    return browser


NOT_ALLOWED, NOT_FOUND = 405, 404
NOT_CREATED_BY_API = re.compile(r"/(intakes|asks)/|judgements/\{")
# The statuses of an address that exists for its own project, so that a 404 for all others is meaningful.
EXISTS = {200, 301, 302, 303, 405}
# Created by a job, a model or a large file, which no test here waits for; and images of a payload, which here has none.
NOT_CREATED = {"intake", "dismiss_intake", "cancel_ask", "cancel_judgement", "payload_image"}


def test_every_page_of_another_project_is_not_found(theirs: OtherProject, ours: Client) -> None:
    wrong: list[tuple[object, ...]] = []
    for route in pages():
        address = f"/{theirs.at(route.written)}"
        own_status = status_of(theirs.browser.get(address))
        if route.name not in NOT_CREATED and own_status not in EXISTS:
            wrong.append((address, "is not there for its own project", own_status))
        read, sent = ours.get(address, follow=True), ours.post(address)
        wrong += [
            (address, answer.request["REQUEST_METHOD"], answer.status_code)
            for answer in (read, sent)
            if answer.status_code not in {404, 405} or CANARY in answer.text
        ]
        if read.status_code == sent.status_code == NOT_ALLOWED:
            wrong.append((address, "takes another method, which is not tried here", NOT_ALLOWED))
    assert not wrong, "\n".join(map(str, wrong))


def test_no_list_shows_anything_of_another_project(theirs: OtherProject, ours: Client) -> None:
    params = {"q": CANARY, "a": theirs.named["sessions"], "b": theirs.named["sessions"], "session": CANARY}
    for route in every_route():
        if route.parameters or route.written.startswith(("api/", "health", "^share")):
            continue
        for query in ({}, params):
            answer = ours.get(f"/{route.written}", query)
            assert answer.status_code in {200, 302, 303, 400, 404, 405, 409, 422}, route
            text = answer.getvalue().decode() if answer.streaming else answer.text
            without_the_query = text.replace(f'value="{CANARY}"', "")
            assert CANARY not in without_the_query or query, route
            assert theirs.named["notes"] not in text, route


def operations(api: Program) -> Iterator[tuple[str, str]]:
    for path, methods in api.get("/openapi.json").json()["paths"].items():
        for method in methods:
            yield method.upper(), path


# The body that an operation requires before it looks up what its address names.
QUESTION, FIND, MODEL = {"question": "?"}, {"query": "?"}, {"model": ONE}
SENT: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/api/sessions/{session_id}/find"): FIND,
    ("POST", "/api/sessions/{session_id}/ask"): QUESTION,
    ("POST", "/api/sessions/{session_id}/continue"): {"from": 1, "model": ONE},
    ("POST", "/api/sessions/{session_id}/checkpoints"): {"name": "x"},
    ("POST", "/api/sessions/{session_id}/actions/{sequence}/judgements"): MODEL,
    ("GET", "/api/sessions/{session_id}/actions/{sequence}/judgements/estimate"): MODEL,
    ("POST", "/api/sessions/{session_id}/notes"): {"sequence": 1, "text": "x"},
    ("POST", "/api/sessions/{session_id}/proposals"): {"sequence": 1, "rule": "decision", "accept": False},
    ("GET", "/api/sessions/{session_id}/state"): {"at": "1"},
    ("POST", "/api/comparisons/{comparison_id}/marks"): {
        "session": "x",
        "sequence": 2,
        "arm": 1,
        "verdict": "better",
    },
    ("POST", "/api/comparisons/{comparison_id}/judgements"): MODEL,
    ("GET", "/api/comparisons/{comparison_id}/judgements/estimate"): MODEL,
    ("POST", "/api/collections/{name}/find"): FIND,
    ("POST", "/api/collections/{name}/ask"): QUESTION,
    ("POST", "/api/collections/{name}/embedding"): {"model": "wordllama"},
    ("POST", "/api/sessions/{session_id}/erasures"): {"fields": ["output"]},
    ("POST", "/api/erasures/{erasure_id}/confirm"): {"reason": "x"},
    ("PATCH", "/api/redactions/{redaction_id}"): {"rules": {"detect": ["email"]}},
}


def named_in_bodies(theirs: OtherProject) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield operations whose body or query names what they work on."""
    session, replay, comparison = (theirs.named[each] for each in ("sessions", "replays", "comparisons"))
    arms = [{"model": ONE}, {"model": THREE}]
    for kind, target in (("session", session), ("replay", replay), ("comparison", comparison)):
        for path in ("/api/shares", "/api/shares/preview"):
            yield "POST", path, {"target_type": kind, "target_id": target}
    for path in ("/api/comparisons", "/api/comparisons/estimate"):
        yield "POST", path, {"sessions": [session], "arms": arms, "reason": "x"}
    yield (
        "POST",
        "/api/suites",
        {"name": "x", "sessions": [session], "options": {"audit": True, "reason": "x"}},
    )
    yield (
        "POST",
        "/api/sessions",
        {"name": "x", "collection": "handbook", "parent": {"session": session, "sequence": 1}},
    )
    for field in ("session", "besides"):
        yield "POST", "/api/recall", {"queries": ["x"], field: session}
    yield "GET", "/api/replays", {"session": session}
    yield "GET", "/api/patterns", {"similar_to": f"{session}:1"}
    yield "GET", "/api/holds", {"session": session}
    yield "POST", "/api/holds", {"sessions": [session], "reason": "x"}
    yield "GET", "/api/compare", {"a": session, "b": session}
    yield "GET", "/api/compare", {"a": replay, "b": replay}


def called(api: Program, method: str, address: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {api.key}"}
    if method == "GET":
        return api.client.get(address, body, headers=headers)
    return api.client.generic(
        method, address, json.dumps(body), content_type="application/json", headers=headers
    )


def test_every_api_operation_on_another_project_is_not_found(theirs: OtherProject, project: Project) -> None:
    api, wrong = program(project), list[tuple[object, ...]]()
    their_own = Program(key=theirs.key, client=Client())
    for method, path in operations(api):
        if "{" not in path or OF_NO_PROJECT.match(path[1:].replace("{", "<")):
            continue
        exists = method != "GET" or NOT_CREATED_BY_API.search(path)
        if (
            not exists
            and status_of(called(their_own, method, theirs.at(path), SENT.get((method, path), {})))
            == NOT_FOUND
        ):
            wrong.append((method, path, "is not there for its own project"))
        answer = called(api, method, theirs.at(path), SENT.get((method, path), {}))
        expected = {404, 422, 201} if (method, path) in CREATES_ITS_OWN else {404}
        if answer.status_code not in expected or CANARY in answer.text:
            wrong.append((method, path, answer.status_code, answer.text[:200]))
    for method, path, body in named_in_bodies(theirs):
        answer = called(api, method, path, body)
        if answer.status_code != 404 or CANARY in answer.text:
            wrong.append((method, path, body, answer.status_code, answer.text[:200]))
    assert not wrong, "\n".join(map(str, wrong))


def test_no_api_list_shows_anything_of_another_project(theirs: OtherProject, project: Project) -> None:
    api = program(project)
    for method, path in operations(api):
        if method == "GET" and "{" not in path:
            answer = called(api, method, path, {"q": "ten years", "query": "ten years"})
            assert CANARY not in answer.text, path
            assert theirs.named["sessions"] not in answer.text, path
