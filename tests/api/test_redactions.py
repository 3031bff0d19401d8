"""Redaction profiles over HTTP."""

from tests.api.conftest import Program

RULES = {"detect": ["email"], "patterns": [{"name": "number", "pattern": "ACME-[0-9]+"}], "fields": ["agent"]}


def test_a_profile_is_created_read_changed_and_retired(api: Program) -> None:
    made = api.post("/redactions", {"name": "Auditors", "rules": RULES})
    assert made.status_code == 201
    assert (made.json()["version"], made.json()["created_by"]) == (1, "key test")
    assert api.get("/redactions/Auditors").json() == made.json()
    changed = api.patch("/redactions/Auditors", {"rules": {"detect": ["card"]}}).json()
    assert (changed["version"], changed["rules"]["detect"]) == (2, ["card"])
    assert api.get(f"/redactions/{made.json()['id']}").json()["rules"]["detect"] == ["email"]
    assert [each["name"] for each in api.get("/redactions").json()["items"]] == [
        "Secrets and personal data",
        "Auditors",
    ]
    assert api.delete("/redactions/Auditors").json()["retired_by"] == "key test"
    assert [each["id"] for each in api.get("/redactions").json()["items"]] == ["built-in"]
    assert api.get("/redactions/built-in").json()["built_in"] is True


def test_an_invalid_profile_or_test_is_refused(api: Program) -> None:
    wrong = api.post("/redactions", {"name": "x", "rules": {"detect": ["nothing"]}})
    assert (wrong.status_code, wrong.json()["facts"]["field"]) == (422, "rules.detect[0]")
    assert api.post("/redactions", {"name": "x", "rules": RULES, "more": 1}).status_code == 422
    assert api.post("/redactions/test", {"redaction": "built-in"}).status_code == 422
    assert (
        api.post("/redactions/test", {"text": "x", "redaction": "nope"}).json()["code"]
        == "redaction_not_found"
    )
    assert api.patch("/redactions/built-in", {"rules": RULES}).status_code == 404


def test_a_profile_of_another_project_is_not_found(api: Program, stranger: Program) -> None:
    made = api.post("/redactions", {"name": "Auditors", "rules": RULES}).json()
    for name in (made["id"], "Auditors"):
        assert stranger.get(f"/redactions/{name}").status_code == 404
        assert stranger.patch(f"/redactions/{name}", {"rules": RULES}).status_code == 404
        assert stranger.delete(f"/redactions/{name}").status_code == 404
        assert stranger.post("/redactions/test", {"text": "x", "redaction": name}).status_code == 404


def test_a_profile_is_tested_on_a_text(api: Program) -> None:
    found = api.post("/redactions/test", {"text": "😀 to a@b.org or ACME-17", "rules": RULES}).json()
    assert found["text"] == "😀 to [withheld: e-mail] or [withheld: number]"
    assert found["findings"] == [
        {"start": 5, "end": 12, "rule": "e-mail", "what": "e-mail"},
        {"start": 16, "end": 23, "rule": "number", "what": "number"},
    ]
    assert found["counts"] == [
        {"rule": "e-mail", "what": "e-mail", "count": 1},
        {"rule": "number", "what": "number", "count": 1},
    ]
    assert api.post("/redactions/test", {"text": "ACME-17"}).json()["text"] == "ACME-17"


def test_a_profile_is_tested_on_a_recorded_step(api: Program, stranger: Program, session: str) -> None:
    action = {"kind": "message", "agent": "Ada", "input": "write to a@b.org", "output": "yes"}
    api.post(f"/sessions/{session}/actions", action)
    body = {"session": "run-1", "sequence": 1, "rules": RULES}
    found = api.post("/redactions/test", body).json()
    assert found["touched"] == ["agent", "input"]
    assert found["action"]["input"] == "write to [withheld: e-mail]"
    assert {each["rule"]: each["count"] for each in found["counts"]} == {"e-mail": 1, "field": 1}
    assert api.post("/redactions/test", body | {"sequence": 2}).status_code == 404
    assert stranger.post("/redactions/test", body).status_code == 404
    stored = api.get(f"/sessions/{session}/actions/1").json()
    assert stored["input"] == "write to a@b.org"


def test_a_link_keeps_the_profile_version_it_was_created_with(
    api: Program, stranger: Program, session: str
) -> None:
    api.post(f"/sessions/{session}/actions", {"kind": "message", "input": "write to a@b.org"})
    made = api.post("/redactions", {"name": "Auditors", "rules": RULES}).json()
    body = {"target_type": "session", "target_id": session}
    link = api.post("/shares", body | {"redaction": "Auditors"}).json()
    assert link["redaction"] == {"name": "Auditors", "version": 1}
    api.patch("/redactions/Auditors", {"rules": {"detect": ["card"]}})
    assert api.post("/shares", body | {"redaction": made["id"]}).json()["redaction"]["version"] == 1
    assert (
        api.post("/shares", body | {"redaction": "built-in"}).json()["redaction"]["name"]
        == "Secrets and personal data"
    )
    assert [each["redaction"]["version"] for each in api.get("/shares").json()["items"][1:]] == [1, 1]
    assert api.post("/shares", body).json()["redaction"] is None
    api.delete("/redactions/Auditors")
    refused = api.post("/shares", body | {"redaction": "Auditors"})
    assert (refused.status_code, refused.json()["code"]) == (422, "redaction_retired")
    assert api.post("/shares", body | {"redaction": "nope"}).json()["code"] == "redaction_not_found"
    assert stranger.post("/shares", body | {"redaction": made["id"]}).status_code == 404
