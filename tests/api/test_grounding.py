"""Grounding answers without a session, the list of models, and the API documentation."""

from typing import Any

import pytest

from tests.api.conftest import Program


def test_an_answer_is_grounded_without_a_session(api: Program) -> None:
    body = api.post("/ground", {"answer": "Cats bark.", "context": ["Cats sleep."]}).json()
    assert body["has_warning"]
    assert body["sentences"][0]["missing"] == ["bark"]


def test_several_answers_are_grounded_at_once_with_the_same_result(api: Program) -> None:
    items = [
        {"answer": "Cats bark.", "context": ["Cats sleep."]},
        {"answer": "Cats sleep.", "context": ["Dogs bark.", "Cats sleep."]},
    ]
    body = api.post("/ground", {"items": items}).json()["items"]
    assert body == [api.post("/ground", item).json() for item in items]
    assert [each["label"] for each in body] == ["LOW", "HIGH"]
    span = body[1]["sentences"][0]
    assert (span["frame"], span["passage_start"], span["passage_end"]) == (1, 0, 11)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"answer": "A."},
        {"items": [], "answer": "A."},
        {"items": []},
        {"answer": "A.", "context": ["B."], "items": [{"answer": "A.", "context": []}]},
    ],
)
def test_a_request_needs_one_answer_or_a_list_of_answers(api: Program, body: dict[str, object]) -> None:
    assert api.post("/ground", body).status_code in (400, 422)


def test_too_many_answers_are_refused_with_the_limit(api: Program) -> None:
    item = {"answer": "Cats sleep. " * 2_000, "context": ["Cats sleep. " * 2_000] * 3}
    refused = api.post("/ground", {"items": [item, item]})
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert refused.json()["facts"] == {"limit": 120_000, "characters": 160_000}
    assert "Send fewer items" in refused.json()["message"]
    many = api.post("/ground", {"answer": "A.", "context": ["B."] * 1_001})
    assert many.status_code == 422
    assert "1,000" in many.text


def test_only_the_beginning_of_a_long_answer_is_grounded(api: Program) -> None:
    text = "Cats sleep all day. " * 60_000
    body = api.post("/ground", {"answer": text, "context": [text] * 8}).json()
    assert (body["label"], body["sentence_count"]) == ("MEDIUM", 500)
    assert body["unread_characters"]["answer"] == len(text) - 500 * 20


def test_unavailable_models_give_the_reason(api: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    models = {each["model"].split(":")[0]: each for each in api.get("/models").json()["items"]}
    assert models["local"]["usable"]
    assert "OPENAI_API_KEY" in models["openai"]["why_not"]


def test_the_api_documentation_is_served(api: Program, document: dict[str, Any]) -> None:
    assert "/api/sessions/{session_id}/actions" in document["paths"]
    assert api.client.get("/api/docs").status_code == 200
