"""The answer cache through the API: what an ask reports about it, and how an administrator's key manages it."""

from typing import Any

import pytest

from tests.api.conftest import Program

PUT = {"frames": [{"title": "Retention", "text": "Invoices are kept for ten years."}]}
ASK = {"question": "How long are invoices kept?", "top_k": 3}


@pytest.fixture
def handbook(api: Program) -> str:
    assert api.post("/collections/handbook/put", PUT).status_code == 201
    return "/collections/handbook/ask"


def ask_question(api: Program, path: str, **more: Any) -> dict[str, Any]:
    answer = api.post(path, ASK | more)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_an_ask_reports_whether_and_from_where_it_was_cached(api: Program, handbook: str) -> None:
    session = api.post("/sessions", {"name": "one", "collection": "handbook"}).json()["id"]
    first = ask_question(api, f"/sessions/{session}/ask")
    second = ask_question(api, handbook)
    assert (first["cached"], first["saved_usd"], first["cached_from"]) == (False, None, None)
    assert (second["cached"], second["saved_usd"], second["cost_usd"]) == (True, 0.0, 0.0)
    assert (second["cached_from"]["session"], second["cached_from"]["sequence"]) == (session, 1)
    assert second["answer"] == first["answer"]
    assert ask_question(api, handbook, no_cache=True)["cached"] is False


def test_recorded_actions_can_be_sent_again_without_what_was_computed(api: Program, handbook: str) -> None:
    ask_question(api, handbook)
    session = api.post("/sessions", {"name": "one", "collection": "handbook"}).json()["id"]
    ask_question(api, f"/sessions/{session}/ask")
    before = api.get(f"/sessions/{session}/actions/1").json()
    assert before["cached_from"]["session"] is None
    copy = api.post("/sessions", {"name": "copy"}).json()["id"]
    sent = {name: value for name, value in before.items() if name not in {"sequence", "label"}}
    assert api.post(f"/sessions/{copy}/actions", sent).status_code == 201
    assert api.get(f"/sessions/{copy}/actions/1").json() == before
    body = api.get(f"/sessions/{copy}").json()
    assert (body["cached_calls"], body["saved_usd"], body["unknown_saved_calls"]) == (1, 0.0, 0)


def test_an_admin_key_switches_and_empties_the_cache(api: Program, stranger: Program, handbook: str) -> None:
    ask_question(api, handbook)
    body = api.get("/answer-cache").json()
    assert (body["on"], body["answers"], body["changed_by"]) == (True, 1, None)
    assert body["bytes"] > 0
    assert stranger.get("/answer-cache").json()["answers"] == 0
    off = api.patch("/answer-cache", {"on": False}).json()
    assert (off["on"], off["answers"], off["changed_by"]) == (False, 1, "key test")
    assert ask_question(api, handbook)["cached"] is False
    assert api.patch("/answer-cache", {"on": True}).json()["on"] is True
    assert stranger.delete("/answer-cache").json() == {"removed": 0}
    assert api.delete("/answer-cache").json() == {"removed": 1}
    assert ask_question(api, handbook)["cached"] is False
