"""Importing deleted content again: the earlier deletion is reported, and deleted turns do not come back."""

import json
from typing import Any

import pytest

from tests.api.conftest import Program
from tests.governance.deletion.erasure.canary import everywhere

TEXTS = (("user", "Is the bird zqbird in the cellar?"), ("assistant", "It is not."))
FILE = json.dumps({"messages": [{"role": role, "content": text} for role, text in TEXTS]})
ADDRESS = "/import?format=openai_chat&filename=talk.jsonl"


@pytest.fixture
def key(api: Program) -> str:
    return str(_import(api)["key"])


def test_a_deleted_session_can_be_imported_again_with_a_notice(api: Program, key: str) -> None:
    assert api.delete_for(f"/sessions/{key}", {"reason": "its time is over"}).status_code == 200
    found = _import(api)
    assert found["key"] == key
    assert (found["actions"], found["already_there"]) == (3, 0)
    assert found["deleted_before"]["by"] == "key test"
    assert found["deleted_before"]["reason"] == "its time is over"
    assert _import(api)["deleted_before"] is None


def test_a_deleted_turn_does_not_come_back(api: Program, key: str) -> None:
    done = api.delete_for(f"/sessions/{key}/actions/1", {"reason": "asked for"})
    assert (done.status_code, done.json()["status"]) == (200, "done")
    found = _import(api)
    assert (found["actions"], found["already_there"], found["deleted_turns"]) == (3, 3, 1)
    assert everywhere("zqbird") == {}
    assert api.get(f"/sessions/{key}/actions/1").json()["deleted"]["reason"] == "asked for"


def test_a_deleted_turn_does_not_come_back_from_an_earlier_export(api: Program, key: str) -> None:
    before = api.get(f"/sessions/{key}/export").getvalue()
    api.delete_for(f"/sessions/{key}", {"reason": "a move"})
    assert (
        api.raw("/import?filename=s.jsonl", before).json()["sessions"][0]["deleted_before"]["reason"]
        == "a move"
    )
    api.delete_for(f"/sessions/{key}/actions/1", {"reason": "asked for"})
    found = api.raw("/import?filename=s.jsonl", before).json()["sessions"][0]
    assert (found["already_there"], found["deleted_turns"]) == (3, 1)
    assert everywhere("zqbird") == {}


def test_a_step_that_only_resembles_an_erased_one_is_compared_with_the_file(api: Program) -> None:
    head = {"format": "timemachine-session", "version": 1, "key": "forged", "name": "n", "through": 2}
    steps = [
        {"sequence": 1, "kind": "message", "role": "user", "output": "Is the bird zqbird in the cellar?"},
        {"sequence": 2, "kind": "message", "role": "agent", "output": "It says [erased: field] there."},
    ]
    for number, status in ((1, 201), (2, 409)):
        file = "\n".join(json.dumps(each) for each in [head, *steps]).encode()
        assert api.raw("/import", file).status_code == status
        if number == 1:
            api.delete_for("/sessions/forged/actions/1", {"reason": "asked for"})
            assert api.raw("/import", file).json()["sessions"][0]["already_there"] == 2
            steps[1]["output"] = "It says something else."


def _import(api: Program) -> dict[str, Any]:
    return dict(api.raw(ADDRESS, FILE.encode()).json()["sessions"][0])
