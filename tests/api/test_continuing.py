"""POST /api/sessions/{id}/continue and /api/replays/{id}/continue."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from tests.api.conftest import Program
from tests.replay.continuation.conftest import SECOND, A, B, chat_drafts, drafts, play, repeat, stubbed
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.tasks import run_replay


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@pytest.fixture
def session(project: Project) -> Session:
    session = start_session(project, name="Adding", by="test", key="adding")
    append(session.id, drafts())
    return session


def continued(api: Program, **body: object) -> dict[str, Any]:
    given = {"from": 1, "model": "openai:gpt-4o", **body}
    launched = api.post("/sessions/adding/continue", given)
    assert launched.status_code == 202
    return finished(api, launched.json()["replay_id"])


def finished(api: Program, replay_id: str) -> dict[str, Any]:
    run_replay(replay_id)
    found: dict[str, Any] = api.get(f"/replays/{replay_id}").json()
    return found


def test_its_end_names_the_branch(api: Program, session: Session, stub: StubModelServer) -> None:
    repeat(stub)
    found = continued(api)
    assert (found["kind"], found["status"]) == ("continue", "done")
    about = found["continuation"]
    assert (about["sequence"], about["ending"]["why"]) == (1, "finished")
    branch = api.get(f"/sessions/{about['branch']}").json()
    assert (branch["parent"]["session"], branch["tags"]) == (str(session.id), ["replay"])
    assert str(found["summary"]).startswith(
        "Followed the recording to its end: 4 calls, 3 tool results from the record; context verified 1 of 1; tools offered as "
    )


def test_a_result_that_is_missing_is_named_and_can_be_supplied(
    api: Program, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(answer="", tools=(("ask_user", {}),), times=1))
    stub.script(Script(answer="Thanks."))
    found = continued(api)
    refused = api.post(f"/replays/{found['id']}/continue", {"results": [{"tool": "x", "result": "y"}]})
    assert (refused.status_code, refused.json()["code"]) == (422, "no_such_call")
    assert "ask_user" in refused.json()["message"]
    unnamed = api.post(f"/replays/{found['id']}/continue", {"results": [{"result": "y"}]})
    assert unnamed.status_code == 422
    about = found["continuation"]
    (missing,) = about["ending"]["unanswered"]
    body = {"results": [{"call_id": missing["call_id"], "result": {"go": True}}]}
    assert api.post(f"/replays/{found['id']}/continue", body).status_code == 202
    assert finished(api, str(found["id"]))["continuation"]["ending"]["supplied_results"] == 1


def test_other_replays_do_not_go_on(api: Program, session: Session, stub: StubModelServer) -> None:
    launched = api.post("/sessions/adding/replays", {"audit": True, "reason": "r"}).json()
    refused = api.post(f"/replays/{launched['replay_id']}/continue", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_a_continuation")


def test_the_next_message_of_the_user_is_accepted_or_written(
    api: Program, project: Project, stub: StubModelServer
) -> None:
    append(start_session(project, name="Two files", by="test", key="chat").id, chat_drafts())
    play(stub, A, "a.txt has 7 lines.", B, SECOND)
    launched = api.post(
        "/sessions/chat/continue", {"from": 2, "model": "openai:gpt-4o", "user_messages": "agreed"}
    )
    replay_id = launched.json()["replay_id"]
    ending = finished(api, replay_id)["continuation"]["ending"]
    assert (ending["why"], ending["next_message"]) == ("user_message", 5)
    address = f"/replays/{replay_id}/continue"
    for body, status, code in (
        ({}, 422, "message_missing"),
        ({"message": "x", "recorded_message": True}, 422, "invalid_request"),
        ({"message": "x", "results": [{"tool": "a", "result": "b"}]}, 409, "no_result_needed"),
    ):
        refused = api.post(address, body)
        assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert api.post(address, {"recorded_message": True}).status_code == 202
    ending = finished(api, replay_id)["continuation"]["ending"]
    assert (ending["why"], ending["recorded_messages"], ending["next_message"]) == ("finished", 1, None)
    assert api.post(address, {"message": "x"}).json()["code"] == "nothing_to_go_on_with"
