"""A checkpoint returns its state exactly, except for secrets of the environment."""

from typing import Any

import pytest

from tests.api.conftest import Program, api, stranger
from timemachine.core.payloads.models import Payload

__all__ = ["api", "stranger"]
pytestmark = pytest.mark.django_db

STATE: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Lauf ä\x00"}, {"role": "assistant", "content": None}],
    "system_prompt": "Be brief.",
    "working_directory": "/srv/agent",
    "tools": ["look", {"name": "write", "schema": {}}],
    "last_query": "retention",
    "last_result": {"hits": []},
    "model": "local:extractive-1",
    "environment": {"HOME": "/root", "OPENAI_API_KEY": "sk-abcdefghijklmnopqrstuvwxyz123456", "LANG": "de"},
    "plan": [1, 2],
}


@pytest.fixture
def run(api: Program) -> str:
    api.post("/sessions", {"name": "Run", "key": "run"})
    for name, state in (("first", STATE), ("2", {"messages": []}), ("last", {})):
        assert api.post("/sessions/run/checkpoints", {"name": name, "state": state}).status_code == 201
    return "run"


def test_resuming_returns_the_state(api: Program, run: str) -> None:
    found = api.post(f"/sessions/{run}/resume", {"checkpoint": "first"}).json()
    session = api.get(f"/sessions/{run}").json()["id"]
    assert found.pop("checkpoint")["sequence"] == 1
    assert found.pop("parent") == {"session": session, "sequence": 1}
    assert found.pop("more") == {"plan": [1, 2]}
    environment = found.pop("environment")
    assert environment == {"HOME": "/root", "OPENAI_API_KEY": "[withheld: secret]", "LANG": "de"}
    assert found == {name: STATE[name] for name in found}
    assert len(found) == 7
    assert not any(b"sk-abcdefghijkl" in bytes(each.data) for each in Payload.objects.all())


@pytest.mark.parametrize(("checkpoint", "sequence"), [(None, 3), ("last", 3), ("2", 2), (1, 1), ("first", 1)])
def test_a_checkpoint_is_chosen_by_name_by_step_or_by_default(
    api: Program, run: str, checkpoint: Any, sequence: int
) -> None:
    found = api.post(f"/sessions/{run}/resume", {"checkpoint": checkpoint}).json()
    assert found["checkpoint"]["sequence"] == sequence
    assert found["system_prompt"] == (STATE["system_prompt"] if sequence == 1 else None)


def test_a_resumed_session_is_a_branch_of_the_checkpoint(api: Program, run: str) -> None:
    parent = api.post(f"/sessions/{run}/resume").json()["parent"]
    made = api.post("/sessions", {"name": "Once more", "parent": parent})
    assert made.status_code == 201
    assert made.json()["parent"]["sequence"] == 3


def test_an_unknown_checkpoint_is_not_found(api: Program, stranger: Program, run: str) -> None:
    assert (
        api.post(f"/sessions/{run}/resume", {"checkpoint": "never"}).json()["code"] == "checkpoint_not_found"
    )
    assert api.post("/sessions/never/resume").json()["code"] == "session_not_found"
    assert stranger.post(f"/sessions/{run}/resume").status_code == 404
    assert api.post(f"/sessions/{run}/checkpoints", {"name": " "}).status_code == 422
