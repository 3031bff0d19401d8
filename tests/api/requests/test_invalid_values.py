"""Invalid values are refused by field, and by position in a request with several actions."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import Program
from timemachine.core.pure.clock import now, written
from timemachine.recording.sessions.models import Action

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def api(shared_api: Program) -> Program:
    """Shared by the file: each test rolls its changes back."""
    return shared_api


@pytest.fixture(scope="module")
def session(shared_session: str) -> str:
    return shared_session


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("started_at", 1_700_000_000),
        ("started_at", "1700000000"),
        ("started_at", "2090-01-01T00:00:00Z"),
        ("cached", "yes"),
        ("duration_ms", "5"),
        ("iteration", "5"),
        ("importance", "0.5"),
        ("id", ""),
        ("parent", ""),
        ("usage", {"input_tokens": 5, "cached_tokens": 6}),
        ("usage", {"input_tokens": "5"}),
        ("error", {}),
        ("error", {"type": None, "message": None}),
        ("role", "boss"),
        ("kind", "dance"),
    ],
)
def test_an_invalid_value_is_refused_by_its_field(api: Program, session: str, field: str, given: Any) -> None:
    path = f"/sessions/{session}/actions"
    alone = api.post(path, {"kind": "event", field: given})
    assert (alone.status_code, f"`{field}" in alone.json()["message"]) == (422, True), alone.json()
    among = api.post(
        path, {"actions": [{"kind": "event"}, {"kind": "event", field: given}, {"kind": "event"}]}
    )
    assert (among.status_code, "actions.1" in among.json()["message"]) == (422, True), among.json()
    assert not Action.objects.exists()


def test_a_start_time_may_be_ahead_by_at_most_a_day(api: Program) -> None:
    soon, late = (written(now() + timedelta(hours=hours)) for hours in (20, 30))
    assert api.post("/sessions", {"name": "x", "started_at": soon}).status_code == 201
    answer = api.post("/sessions", {"name": "x", "started_at": late})
    assert (answer.status_code, "a day ahead" in answer.json()["message"]) == (422, True)


def test_actions_with_a_parent_cycle_are_refused(api: Program, session: str) -> None:
    path = f"/sessions/{session}/actions"
    pairs = [{"kind": "event", "id": "a", "parent": "b"}, {"kind": "event", "id": "b", "parent": "a"}]
    answer = api.post(path, {"actions": pairs})
    assert (answer.status_code, answer.json()["facts"]["field"]) == (422, "parent")
    pairs[1]["parent"] = "elsewhere"
    assert api.post(path, {"actions": pairs}).status_code == 201


def test_an_unknown_checkpoint_is_refused_with_the_existing_ones(api: Program, session: str) -> None:
    def error_message(body: dict[str, Any]) -> str:
        return str(api.post(f"/sessions/{session}/resume", body).json()["message"])

    assert "Set one while it is recording" in error_message({})
    api.post(f"/sessions/{session}/checkpoints", {"name": "before asking"})
    assert "Its latest are before asking (1)" in error_message({"checkpoint": "other"})


def test_an_unknown_kind_is_refused_with_the_known_kinds(api: Program) -> None:
    message = api.get("/search?q=x&kind=checkpiont").json()["message"]
    assert "checkpoint" in message
    assert "''" not in message


@pytest.mark.parametrize("method", ["get", "put", "post", "delete"])
@pytest.mark.parametrize("signal", ["logs/", "metrics", "traces/"])
def test_other_signals_are_refused_with_the_addresses_of_traces_and_logs(method: str, signal: str) -> None:
    answer = getattr(Client(enforce_csrf_checks=True), method)(f"/v1/{signal}")
    assert answer.status_code == 404
    assert "/v1/traces and logs to /v1/logs" in answer.json()["message"]
    packed = Client().post(f"/v1/{signal}", b"x", content_type="application/x-protobuf")
    assert packed["Content-Type"] == "application/x-protobuf"
