"""The agent of a step that the server executes: the one the request names, else the session's."""

from typing import Any

import pytest

from tests.api.conftest import Program
from timemachine.recording.sessions.models import Action

DONE: list[tuple[str, dict[str, Any], int]] = [
    ("put", {"text": "Invoices are kept for ten years."}, 1),
    ("find", {"query": "invoices"}, 1),
    ("ask", {"question": "How long are invoices kept?"}, 2),
    ("checkpoints", {"name": "Before the answer"}, 1),
]


@pytest.fixture
def desk(api: Program) -> str:
    api.post("/sessions", {"name": "x", "key": "desk-1", "agent": "desk", "collection": "handbook"})
    return "desk-1"


def test_steps_without_an_agent_count_for_the_agent_of_the_session(api: Program, desk: str) -> None:
    for path, body, _ in DONE:
        assert api.post(f"/sessions/{desk}/{path}", body).status_code in (200, 201)
    assert set(Action.objects.values_list("agent", flat=True)) == {None}
    costs = api.get("/costs", by="agent").json()["items"]
    assert [(each["agent"], each["calls"]) for each in costs] == [("desk", 1)]
    totals = api.get(f"/sessions/{desk}/totals", by="agent").json()
    assert [(each["agent"], each["actions"]) for each in totals["items"]] == [("desk", 5)]


@pytest.mark.parametrize(("path", "body", "recorded"), DONE)
def test_the_agent_of_the_request_takes_precedence(
    api: Program, desk: str, path: str, body: dict[str, Any], recorded: int
) -> None:
    assert api.post(f"/sessions/{desk}/{path}", body | {"agent": "clerk"}).status_code in (200, 201)
    assert list(Action.objects.values_list("agent", flat=True)) == ["clerk"] * recorded


@pytest.mark.parametrize(("path", "body", "recorded"), DONE)
def test_an_overlong_agent_is_refused_before_anything_is_done(
    api: Program, desk: str, path: str, body: dict[str, Any], recorded: int
) -> None:
    refused = api.post(f"/sessions/{desk}/{path}", body | {"agent": "x" * 1_001})
    assert (refused.status_code, refused.json()["facts"]["field"]) == (413, "agent"), recorded
    assert not Action.objects.exists()
