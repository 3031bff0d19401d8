"""Erasing fields over HTTP."""

import json
from uuid import UUID

import pytest

from tests.api.conftest import Program
from timemachine.core.accounts.models import Project
from timemachine.evidence.models import LogEntry
from timemachine.evidence.sealing import seals
from timemachine.governance.deletion.erasure import commands

TEXT = "Call Zoë under +49 30 901820 or write to zoe@example.org."


@pytest.fixture
def recorded(api: Program) -> str:
    """A session with a message that contains a name."""
    api.post("/sessions", {"name": "n", "key": "s1"})
    api.post("/sessions/s1/actions", {"kind": "message", "role": "user", "output": TEXT})
    return "s1"


def test_an_erasure_is_previewed_and_needs_a_reason(api: Program, recorded: str) -> None:
    found = api.post(f"/sessions/{recorded}/erasures", {"redaction": "built-in"})
    assert (found.status_code, found.json()["status"]) == (202, "found")
    assert found.json()["preview"]["counts"][0] == {"rule": "e-mail", "what": "e-mail", "count": 1}
    assert api.get("/sessions/s1/actions/1").json()["output"] == TEXT
    address = f"/erasures/{found.json()['id']}"
    assert api.post(f"{address}/confirm", {"reason": " "}).json()["code"] == "reason_missing"
    done = api.post(f"{address}/confirm", {"reason": "Zoë asked for it"}).json()
    assert (done["status"], done["confirmed_by"]) == ("done", "key test")
    assert api.get(address).json() == done == api.get(f"/sessions/{recorded}/erasures").json()["items"][0]
    assert api.post(f"{address}/confirm", {"reason": "again"}).json()["code"] == "erasure_confirmed"


@pytest.mark.parametrize(
    ("chosen", "reason", "holds"),
    [
        ({"redaction": "built-in"}, "zoe@example.org asked for it", "e-mail"),
        ({"redaction": "Numbers"}, "ticket T-4711 asks for it", "ticket"),
        ({"fields": ["output"]}, "somebody wrote: " + TEXT.lower(), "e-mail"),
        ({"fields": ["session.name"]}, "the Journey is no name", "erased text"),
    ],
)
def test_a_reason_that_quotes_erased_text_is_refused_and_not_stored(
    api: Program, recorded: str, chosen: dict[str, object], reason: str, holds: str
) -> None:
    api.patch("/sessions/s1", {"name": "Journey"})
    api.post("/sessions/s1/actions", {"kind": "message", "role": "user", "output": "T-4711"})
    rules = {"patterns": [{"name": "ticket", "pattern": "T-[0-9]+"}]}
    api.post("/redactions", {"name": "Numbers", "rules": rules})
    found = api.post(f"/sessions/{recorded}/erasures", chosen).json()
    refused = api.post(f"/erasures/{found['id']}/confirm", {"reason": reason})
    assert (refused.status_code, refused.json()["code"]) == (422, "reason_tells")
    assert holds in refused.json()["facts"]["holds"]
    assert not any(word in refused.text for word in ("zoe", "Zoë", "4711", "Journey"))
    assert api.get(f"/erasures/{found['id']}").json()["reason"] is None
    done = api.post(f"/erasures/{found['id']}/confirm", {"reason": "they asked for it"})
    assert done.json()["status"] == "done"


def test_a_worker_refuses_a_reason_that_quotes_a_long_session(
    api: Program, recorded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = api.post(f"/sessions/{recorded}/erasures", {"fields": ["output"]}).json()
    monkeypatch.setattr(commands, "MOST_IN_A_REQUEST", 0)
    api.post("/sessions/s1/actions", {"kind": "message", "role": "user", "output": "the blue heron"})
    confirmed = api.post(f"/erasures/{found['id']}/confirm", {"reason": "for the blue heron"})
    assert confirmed.json()["status"] == "erasing"
    commands.work(found["id"])
    erasure = api.get(f"/erasures/{found['id']}").json()
    assert (erasure["status"], erasure["reason"]) == ("found", None)
    assert "erased text" in erasure["problem"]


def test_the_log_keeps_the_reason_for_erasing_a_session(
    api: Program, recorded: str, project: Project
) -> None:
    made = api.get("/sessions/s1").json()["id"]
    seals.seal_session(UUID(made))
    refused = api.delete_for("/sessions/s1", {"reason": "zoe@example.org asked"})
    assert (refused.status_code, refused.json()["code"]) == (422, "reason_tells")
    assert api.get("/sessions/s1").status_code == 200
    assert api.delete_for("/sessions/s1", {"reason": " they asked ", "by": "me"}).status_code == 422
    deleted = api.delete_for("/sessions/s1", {"reason": " they asked "}).json()
    assert deleted == {"erased": made, "actions": 1, "summaries": [], "branches": 0}
    last = json.loads(bytes(LogEntry.objects.filter(project=project).latest("index").entry))
    assert (last["entry"], last["id"], last["reason"]) == ("erased", made, "they asked")


def test_a_step_lists_its_erased_fields(api: Program, recorded: str) -> None:
    api.post("/sessions/s1/end")
    chosen = {"fields": ["output"], "steps": [1]}
    found = api.post(f"/sessions/{recorded}/erasures", chosen).json()
    api.post(f"/erasures/{found['id']}/confirm", {"reason": "asked for"})
    for step in (
        api.get("/sessions/s1/actions/1").json(),
        api.get("/sessions/s1/actions").json()["items"][0],
    ):
        assert step["output"] == "[erased: field]"
        assert [(each["field"], each["reason"]) for each in step["erased"]] == [("output", "asked for")]
    assert TEXT not in api.get("/sessions/s1/export?format=jsonl").content.decode()


@pytest.mark.parametrize(
    "chosen", [{}, {"fields": ["kind"]}, {"fields": ["output"], "steps": [7]}, {"redaction": "x"}]
)
def test_an_invalid_selection_is_refused(api: Program, recorded: str, chosen: dict[str, object]) -> None:
    assert api.post(f"/sessions/{recorded}/erasures", chosen).status_code in {404, 422}


def test_a_long_session_is_left_to_a_worker(
    api: Program, recorded: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(commands, "MOST_IN_A_REQUEST", 0)
    found = api.post(f"/sessions/{recorded}/erasures", {"fields": ["output"]}).json()
    assert (found["status"], found["preview"]) == ("looking", None)
    assert api.post(f"/erasures/{found['id']}/confirm", {"reason": "x"}).json()["code"] == "erasure_looking"
    commands.work(found["id"])
    assert api.get(f"/erasures/{found['id']}").json()["preview"]["steps"] == 1
