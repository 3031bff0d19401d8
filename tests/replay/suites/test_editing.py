"""Editing suites: what is replaced, kept and refused."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Program
from tests.builders import QUESTIONS, recorded_session
from tests.replay.suites.conftest import AUDIT, made, ran
from timemachine.core.accounts.models import Project
from timemachine.core.pure.ids import uuid7
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session


def test_sessions_given_by_id_or_key_take_the_same_queries_as_one(
    api: Program, project: Project, session: Session
) -> None:
    others = [recorded_session(project, key=f"o{number}", questions=QUESTIONS[:1]) for number in range(8)]
    names = [str(each.id) if number % 2 else each.key for number, each in enumerate(others)]
    with CaptureQueriesContext(connection) as one:
        made(api, str(session.id), "o0", name="one")
    with CaptureQueriesContext(connection) as many:
        suite = made(api, "s1", *names, names[0], name="many")
    assert [each["key"] for each in suite["sessions"]] == ["s1", *(each.key for each in others)]
    assert len(many) <= len(one)
    for unknown in ("nobody", str(uuid7()), "\x00", "no/key"):
        refused = api.patch("/suites/many", {"sessions": ["s1", unknown]})
        assert (refused.status_code, refused.json()["code"]) == (404, "session_not_found")


def test_editing_the_sessions_removes_erased_ones(api: Program, project: Project, session: Session) -> None:
    second = recorded_session(project, key="s2", questions=QUESTIONS[:1])
    made(api, "s1", "s2")
    erase_session(second)
    body = api.patch("/suites/nightly", {"sessions": ["s1"]}).json()
    assert ([each["key"] for each in body["sessions"]], body["missing"]) == (["s1"], [])
    assert body["events"][0]["facts"] == {"changed": ["sessions"]}
    assert ran(api)["left_out"] == 0


def test_a_suite_whose_sessions_were_all_erased_can_still_be_edited(
    api: Program, project: Project, session: Session
) -> None:
    made(api, "s1", schedule="every 1 hour")
    erase_session(session)
    body = api.patch("/suites/nightly", {"schedule": None}).json()
    assert (body["schedule"], body["missing"]) == (None, ["s1"])
    assert api.patch("/suites/nightly", {"sessions": []}).json()["code"] == "sessions_needed"
    assert api.patch("/suites/nightly", {"matching": {"tag": "x"}}).json()["missing"] == ["s1"]
    assert api.patch("/suites/nightly", {"matching": None}).json()["code"] == "sessions_needed"
    assert api.patch("/suites/nightly", {"sessions": []}).json()["missing"] == []
    recorded_session(project, key="s2", questions=QUESTIONS[:1])
    assert api.patch("/suites/nightly", {"sessions": ["s2"], "matching": None}).status_code == 200


def test_an_edit_is_logged_with_its_changes_and_author(api: Program, session: Session) -> None:
    made(api, "s1")
    assert api.patch("/suites/nightly", {}).json()["events"][0]["what"] == "created"
    changed = api.patch(
        "/suites/nightly",
        {"name": "weekly", "schedule": "every 2 hours", "options": AUDIT | {"skip_finds": True}},
    )
    event = changed.json()["events"][0]
    assert (event["what"], event["facts"]) == ("edited", {"changed": ["name", "options", "schedule"]})
    assert changed.json()["next_run_at"] is not None
    unscheduled = api.patch("/suites/weekly", {"schedule": None}).json()
    assert (unscheduled["schedule"], unscheduled["next_run_at"]) == (None, None)
    assert api.patch("/suites/weekly", {"name": None}).json()["code"] == "invalid_field"
    assert api.get("/suites/nightly").json()["code"] == "suite_not_found"
    made(api, "s1")
    assert api.patch("/suites/weekly", {"name": "nightly"}).json()["code"] == "suite_name_taken"


def test_a_schedule_can_be_removed_even_if_a_model_lost_its_key(
    api: Program, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("OPENAI_API_KEY", "sk-test")
        made(api, "s1", use_models=["openai:gpt-4o"], schedule="every 1 hour")
    refused = api.post("/suites/nightly/runs")
    assert (refused.status_code, refused.json()["code"]) == (503, "model_not_usable")
    assert api.patch("/suites/nightly", {"schedule": None}).json()["schedule"] is None
    added = api.patch("/suites/nightly", {"use_models": ["openai:gpt-4o", "openai:gpt-4o-mini"]})
    assert added.json()["code"] == "model_not_usable"
