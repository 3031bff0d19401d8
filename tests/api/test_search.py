"""Search across sessions over HTTP, from recording to finding."""

from typing import Any

import pytest

from tests.api.conftest import Program, program
from tests.brokers import received, run
from timemachine.core.accounts.models import Project
from timemachine.jobs.registry import sweep
from timemachine.memory.tasks import index_steps

pytestmark = pytest.mark.django_db


def record(api: Program, *texts: str, name: str = "a run") -> str:
    session: str = api.post("/sessions", {"name": name}).json()["id"]
    actions = [{"kind": "message", "role": "user", "output": text} for text in texts]
    assert api.post(f"/sessions/{session}/actions", {"actions": actions}).status_code == 201
    return session


def test_a_recorded_text_is_found_with_its_location(api: Program, project: Project) -> None:
    session = record(api, "All is well.", "The <gateway> timed out: ERR_CONN_RESET")
    assert api.get("/search", q="gateway").json()["not_indexed"] == 2
    run(index_steps, project.id)
    answer = api.get("/search", q="ERR_CONN_RESET", mode="text").json()
    assert {
        name: answer[name] for name in ("next", "mode", "not_indexed", "too_common", "embedding_model")
    } == {
        "next": None,
        "mode": "text",
        "not_indexed": 0,
        "too_common": False,
        "embedding_model": None,
    }
    [item] = answer["items"]
    assert (item["session"]["id"], item["matches"], item["more"]) == (session, 1, 0)
    [hit] = item["hits"]
    assert (hit["sequence"], hit["kind"], hit["found_by"], hit["failed"], hit["cut"]) == (
        2,
        "message",
        ["words"],
        False,
        False,
    )
    assert hit["address"] == f"/sessions/{session}/?step=2"
    passage: dict[str, Any] = hit["passage"]
    assert passage["text"] == "The <gateway> timed out: ERR_CONN_RESET"
    assert [passage["text"][start:end] for start, end in passage["marks"]] == ["ERR_CONN_RESET"]
    assert api.get("/search", q="gateway").json()["embedding_model"].startswith("wordllama")


def test_the_sweep_enqueues_unindexed_actions(api: Program, project: Project, silent_queue: None) -> None:
    record(api, "one")
    sweep()
    assert ("index_steps", [str(project.id)]) in received()


def test_a_key_of_another_project_finds_nothing(
    api: Program, project: Project, other_project: Project
) -> None:
    record(api, "The gateway timed out.")
    run(index_steps, project.id)
    assert program(other_project).get("/search", q="gateway").json()["items"] == []


def test_pages_continue_where_the_last_one_ended(api: Program, project: Project) -> None:
    names = {f"run {n}" for n in range(5)}
    for name in names:
        record(api, "gateway", name=name)
    run(index_steps, project.id)
    seen: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = api.get("/search", q="gateway", limit=2, **after).json()
        seen += [item["session"]["name"] for item in page["items"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert sorted(seen) == sorted(names)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"q": ""}, "unknown_search"),
        ({"q": "-only"}, "unknown_search"),
        ({"q": "x", "mode": "fuzzy"}, "invalid_request"),
        ({"q": "x", "kind": "dance"}, "invalid_request"),
        ({"q": "x", "limit": 0}, "invalid_field"),
        ({"q": "x", "after": "nowhere"}, "unknown_after"),
        ({"q": "x", "session": "nobody"}, "session_not_found"),
        ({"q": "x", "since": "yesterday"}, "not_a_time"),
        ({}, "invalid_request"),
    ],
)
def test_an_invalid_search_is_refused(api: Program, query: dict[str, Any], code: str) -> None:
    answer = api.get("/search", **query)
    assert answer.status_code in (400, 404, 422)
    assert answer.json()["code"] == code


def test_a_key_without_read_cannot_search(project: Project) -> None:
    assert program(project, "record").get("/search", q="x").json()["code"] == "scope_missing"


def test_top_k_is_another_name_of_the_limit_of_recall(api: Program, project: Project) -> None:
    record(api, "The gateway timed out.", "The gateway is back.", "The gateway is slow.")
    run(index_steps, project.id)
    asked = {"queries": ["gateway"], "mode": "text"}
    for body in ({"top_k": 2}, {"limit": 2}, {"top_k": 2, "limit": 2}):
        answer = api.post("/recall", asked | body).json()
        assert len(answer["items"][0]["results"]) == 2
    refused = api.post("/recall", asked | {"top_k": 2, "limit": 3})
    assert (refused.status_code, "Use only one of them" in refused.text) == (422, True)


def test_a_session_is_found_by_its_name_over_http(api: Program) -> None:
    record(api, "hello", name="Orchard plan")
    [item] = api.get("/search", q="orchard").json()["items"]
    assert (item["session"]["name"], item["named"], item["hits"]) == ("Orchard plan", ["name"], [])
