"""Two projects: no list shows anything of the other one, and what a request names in its body or query is not found there.

`access` does the same for what an address names.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import Program, program
from tests.core.accounts.people import member
from tests.web.everything import CANARY, ONE, THREE, FullProject, everything_in
from tests.web.routes import every_route
from timemachine.core.accounts.models import Project


@pytest.fixture(scope="module")
def theirs_once(shared_rows: None) -> FullProject:
    return everything_in(Project.objects.create(name="Somebody else's"))


@pytest.fixture
def theirs(theirs_once: FullProject, db: None) -> FullProject:
    return theirs_once


@pytest.fixture
def ours(project: Project) -> Client:
    browser = Client()
    browser.force_login(member(project, "admin").user)
    return browser


def test_no_list_shows_anything_of_another_project(theirs: FullProject, ours: Client) -> None:
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


def named_in_bodies(theirs: FullProject) -> Iterator[tuple[str, str, dict[str, Any]]]:
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


def test_what_a_body_or_query_names_of_another_project_is_not_found(
    theirs: FullProject, project: Project
) -> None:
    api, wrong = program(project), list[tuple[object, ...]]()
    for method, path, body in named_in_bodies(theirs):
        answer = called(api, method, path, body)
        if answer.status_code != 404 or CANARY in answer.text:
            wrong.append((method, path, body, answer.status_code, answer.text[:200]))
    assert not wrong, "\n".join(map(str, wrong))


def operations(api: Program) -> Iterator[tuple[str, str]]:
    for path, methods in api.get("/openapi.json").json()["paths"].items():
        for method in methods:
            yield method.upper(), path


def test_no_api_list_shows_anything_of_another_project(theirs: FullProject, project: Project) -> None:
    api = program(project)
    for method, path in operations(api):
        if method == "GET" and "{" not in path:
            answer = called(api, method, path, {"q": "ten years", "query": "ten years"})
            assert CANARY not in answer.text, path
            assert theirs.named["sessions"] not in answer.text, path
