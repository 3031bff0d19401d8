"""The pages of continuations: the form, the result with its branch, and the form for a missing result."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from tests.replay.continuation.conftest import (
    SECOND,
    A,
    B,
    asked,
    chat_drafts,
    drafts,
    play,
    repeat,
    stubbed,
)
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from tests.web.timelines import words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.continuation.worker import work
from timemachine.replay.runs.models import Replay

FORM = {"model": "openai:gpt-4o"}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@pytest.fixture
def session(project: Project) -> Session:
    session = start_session(project, name="Adding", by="test", key="adding")
    append(session.id, drafts())
    return session


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def page(browser: Client, address: str, status: int = 200) -> str:
    answer = browser.get(address)
    assert answer.status_code == status
    return answer.content.decode()


def test_a_model_call_leads_to_the_form_and_that_to_the_branch(
    browser: Client, session: Session, stub: StubModelServer
) -> None:
    repeat(stub)
    assert '/continue/?from=1"' in page(browser, "/sessions/adding/?step=1")
    assert "/continue/" not in page(browser, "/sessions/adding/?step=2")
    assert "Continue from step 1" in page(browser, "/sessions/adding/continue/?from=1")
    launched = browser.post("/sessions/adding/continue/?from=1", FORM)
    replay = Replay.objects.get()
    assert (launched.status_code, launched["Location"]) == (302, f"/replays/{replay.id}/")
    assert "It records into" in page(browser, f"/replays/{replay.id}/")
    work(replay.id, "test")
    shown = page(browser, f"/replays/{replay.id}/")
    assert "Followed the recording to its end: 4 calls, 3 tool results from the record" in shown
    assert shown.count(f"/compare/?a={session.id}&amp;b={replay.branch_id}") == 2
    assert f"/sessions/{replay.branch_id}/share/" in shown
    listed = words(shown)
    assert "1 L read_file · Step 1. live" in listed
    assert "2 T read_file a.txt step 2 of the recording" in listed
    assert "continuation_ended" not in listed  # the sentence above says it
    assert ">Continue</button>" not in shown
    branch = page(browser, f"/sessions/{replay.branch_id}/")
    assert "Adding, continued from step 1" in branch
    assert page(browser, "/").count('aria-label="branch"') == 1  # of the two sessions in the list


def test_the_missing_result_is_named_and_given_on_the_page(
    browser: Client, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(answer="", tools=(("read_file", {"path": "<d>.txt"}),), times=1))
    stub.script(Script(answer="Thanks."))
    browser.post("/sessions/adding/continue/?from=1", FORM)
    replay = Replay.objects.get()
    work(replay.id, "test")
    shown = page(browser, f"/replays/{replay.id}/")
    assert "Diverged at step 1 of the branch" in shown
    assert "&lt;d&gt;.txt" in shown
    assert "<d>.txt" not in shown
    assert f'/sessions/{session.id}/?step=2">step 2 of the recording</a>, differs at' in shown
    assert "Result of read_file" in page(browser, f"/replays/{replay.id}/continue/")
    given = browser.post(f"/replays/{replay.id}/continue/", {"result_0": "4"})
    assert given.status_code == 302
    work(replay.id, "test")
    assert "1 result supplied by a person" in page(browser, f"/replays/{replay.id}/")
    assert stub.calls()[-1].body["messages"][-1]["content"] == "4"
    assert browser.get(f"/replays/{replay.id}/continue/").status_code == 302


def test_an_empty_result_is_given_only_on_purpose(
    browser: Client, session: Session, stub: StubModelServer
) -> None:
    stub.script(Script(answer="", tools=(("read_file", {"path": "d.txt"}),), times=1))
    stub.script(Script(answer="Thanks."))
    browser.post("/sessions/adding/continue/?from=1", FORM)
    replay = Replay.objects.get()
    work(replay.id, "test")
    address = f"/replays/{replay.id}/continue/"
    for sent, message in (
        ({"result_0": ""}, b"tick that it is empty"),
        ({"result_0": "4", "empty_0": "on"}, b"This result is not empty"),
    ):
        refused = browser.post(address, sent)
        assert (refused.status_code, message in refused.content) == (422, True)
    assert len(stub.calls()) == 1
    assert browser.post(address, {"result_0": "", "empty_0": "on"}).status_code == 302
    work(replay.id, "test")
    assert stub.calls()[-1].body["messages"][-1]["content"] == ""


def test_an_address_without_the_number_of_a_step_says_what_to_do(browser: Client, session: Session) -> None:
    assert "must be the number of a model call" in page(browser, "/sessions/adding/continue/?from=abc", 422)


def test_a_limit_is_raised_on_the_page(browser: Client, session: Session, stub: StubModelServer) -> None:
    repeat(stub)
    browser.post("/sessions/adding/continue/?from=1", {**FORM, "max_calls": "1"})
    replay = Replay.objects.get()
    work(replay.id, "test")
    assert "Stopped at the limit of 1 call" in page(browser, f"/replays/{replay.id}/")
    refused = browser.post(f"/replays/{replay.id}/continue/", {"max_calls": ""})
    assert (refused.status_code, b"higher" in refused.content) == (422, True)
    browser.post(f"/replays/{replay.id}/continue/", {"max_calls": "9"})
    work(replay.id, "test")
    assert "Followed the recording to its end" in page(browser, f"/replays/{replay.id}/")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"messages": "not json"}, "The messages must be a JSON list."),
        ({"messages": '{"role": "user"}'}, "It is not a list of messages."),
        ({"messages": '[{"no": "message"}]'}, "an unknown form"),
        (
            {"messages": '[{"role": "user", "content": "Hi."}, {"role": "user"}]'},
            "Message 2 of “Messages” has no",
        ),
        ({"max_calls": "0"}, "Maximum model calls"),
        ({"model": "nobody:x"}, "nobody"),
        ({"repeatable_tools": "Nope"}, "It has results of read_file, write_file."),
    ],
)
def test_wrong_values_are_shown_at_the_form(
    browser: Client, session: Session, stub: StubModelServer, given: dict[str, str], message: str
) -> None:
    refused = browser.post("/sessions/adding/continue/?from=1", {**FORM, **given})
    assert refused.status_code == 422
    assert message in refused.content.decode()
    assert Replay.objects.count() == 0


def test_messages_and_tools_are_sent_as_they_are_written(
    browser: Client, session: Session, stub: StubModelServer
) -> None:
    given = {"messages": '[{"role": "user", "content": "Hi."}]', "repeatable_tools": "read_file, write_file"}
    browser.post("/sessions/adding/continue/?from=3", {**FORM, **given})
    replay = Replay.objects.get()
    assert replay.options["repeatable_tools"] == ["read_file", "write_file"]
    work(replay.id, "test")
    assert stub.calls()[0].body["messages"][-1]["content"] == "Hi."
    shown = page(browser, f"/replays/{replay.id}/")
    assert "read_file, write_file" in shown
    assert "Continuation from step 3" in shown


def test_a_step_that_is_no_model_call_and_a_viewer_get_no_form(
    browser: Client, viewer: Client, session: Session
) -> None:
    page(browser, "/sessions/adding/continue/?from=2", 422)
    page(browser, "/sessions/adding/continue/?from=99", 404)
    page(browser, "/sessions/adding/continue/", 302)
    page(viewer, "/sessions/adding/continue/?from=1", 403)


def test_the_recording_and_the_branch_part_where_the_model_did_something_else(
    browser: Client, session: Session, stub: StubModelServer
) -> None:
    repeat(stub, from_action=2, write_file={"path": "c.txt", "text": "4"})
    browser.post("/sessions/adding/continue/?from=3", FORM)
    replay = Replay.objects.get()
    work(replay.id, "test")
    for right in (replay.branch_id, replay.id):
        shown = page(browser, f"/compare/?a={session.id}&b={right}")
        assert "They diverge at step 5 on the left and step 3 on the right" in shown
        assert "after step 2, where the other continues" in shown


def test_where_the_user_wrote_next_a_person_sends_the_recorded_message_or_another(
    browser: Client, project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Two files", by="test", key="chat")
    steps = chat_drafts()
    append(session.id, [*steps[:5], asked("Be quick."), *steps[5:]])
    play(stub, A, "a.txt has 7 lines.", "Sorry, I cannot.", B, SECOND)
    browser.post("/sessions/chat/continue/?from=2", FORM)
    replay = Replay.objects.get()
    work(replay.id, "test")
    shown = page(browser, f"/replays/{replay.id}/")
    assert "Stopped after step 3 of the branch, before the user&#x27;s next message" in shown
    assert re.search(r"The user wrote next:.*step 5.*And b\.txt\?\nBe quick\.</bdi>", shown, re.DOTALL)
    for unclear in ({"message": ""}, {"message": "Look again.", "recorded_message": "on"}):
        assert browser.post(f"/replays/{replay.id}/continue/", unclear).status_code == 422
    browser.post(f"/replays/{replay.id}/continue/", {"message": "Look again."})
    work(replay.id, "test")
    browser.post(f"/replays/{replay.id}/continue/", {"recorded_message": "on"})
    work(replay.id, "test")
    shown = page(browser, f"/replays/{replay.id}/")
    assert "2 user messages from the record, 1 message written by a person" in shown
    assert "The user wrote next:" not in shown


def test_the_form_says_whether_messages_of_the_user_are_sent(
    browser: Client, project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Two files", by="test", key="chat")
    append(session.id, chat_drafts())
    browser.post("/sessions/chat/continue/?from=2", {**FORM, "user_messages": "none"})
    replay = Replay.objects.get()
    assert replay.options["user_messages"] == "none"
    assert "user messages" in page(browser, f"/replays/{replay.id}/").lower()
