"""The pages of a replayed model call: the launch form, the two answers with their tool calls, and what a link shows of them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from tests.builders import replayed
from tests.replay.continuation.conftest import stubbed
from tests.replay.runs.test_model_calls import AUDIT, QUESTION, SYSTEM, a_call, asked, only_turns
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from tests.web.timelines import words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.core.pure.unknown_prices import STATED
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.worker import work
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile

WITHHELD = "Kanari-4711"
RULES: dict[str, Any] = {"patterns": [{"name": "bird", "pattern": "kanari-[0-9]+", "ignore_case": True}]}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@pytest.fixture
def session(db: None, project: Project) -> Session:
    session = start_session(project, name="Birds", by="test")
    recorded = a_call("write_file", path="birds.txt", text=f"{WITHHELD}\nBerta")
    append(session.id, [asked([SYSTEM, QUESTION], recorded), asked([SYSTEM, QUESTION], "Done.")])
    session.refresh_from_db()
    return session


@pytest.fixture
def replay(session: Session, stub: StubModelServer) -> Replay:
    changed = {"path": "birds.txt", "text": f"{WITHHELD}\nClara"}
    tools: Any = (("write_file", changed), ("list_files", {}))
    stub.script(Script(answer=f"I write {WITHHELD}.", tools=tools))
    return replayed(session, AUDIT)


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def test_steps_are_named_by_the_tools_that_the_model_called(
    browser: Client, session: Session, replay: Replay
) -> None:
    timeline = browser.get(f"/sessions/{session.id}/").content.decode()
    assert re.findall(r'<span class="label">(.*?)</span>', timeline) == ["write_file", "Done."]


def test_the_two_answers_stand_side_by_side_with_their_calls(browser: Client, replay: Replay) -> None:
    page = browser.get(f"/replays/{replay.id}/steps/1/").content.decode()
    shown = words(page)
    assert "The new model makes more calls: list_files only in the new answer. Model call 1 message" in shown
    assert "Action more calls Context verified" in shown
    assert "write_file other arguments" in shown
    assert "list_files only new no arguments" in shown
    assert '<del class="removed">Berta</del>' in page
    assert f"I write {WITHHELD}." in shown
    assert "Frames" not in shown
    assert "Grounding" not in shown
    assert f"/sessions/{replay.session_id}/?step=1&amp;tab=context" in page


def test_words_that_were_not_recorded_are_not_compared_with_the_new_ones(
    browser: Client, project: Project, replay: Replay, stub: StubModelServer
) -> None:
    silent = words(browser.get(f"/replays/{replay.id}/steps/1/").content.decode())
    session = start_session(project, name="Words", by="test")
    append(session.id, [asked([QUESTION], a_call("ls") | {"content": "I look."})])
    stub.script(Script(answer="I will look.", tools=(("ls", {}), ("cat", {}))))
    spoken = words(browser.get(f"/replays/{replayed(session, AUDIT).id}/steps/1/").content.decode())
    assert "Text accompanying the calls" not in silent
    assert "Text accompanying the calls" in spoken


def test_a_call_that_was_only_verified_shows_what_it_called(
    browser: Client, session: Session, stub: StubModelServer
) -> None:
    checked = replayed(session, AUDIT.with_model(None))
    shown = words(browser.get(f"/replays/{checked.id}/steps/1/").content.decode())
    assert "Tool calls recorded write_file" in shown
    assert "only recorded" not in shown
    assert stub.calls() == []


def test_the_replay_says_what_the_other_model_did(browser: Client, replay: Replay) -> None:
    shown = words(browser.get(f"/replays/{replay.id}/").content.decode())
    assert "2 model calls replayed with openai:gpt-4o: calls differ in 1, calls instead in 1" in shown


def test_a_list_says_of_each_call_what_was_recorded_and_what_the_other_model_did(
    browser: Client, replay: Replay
) -> None:
    shown = words(browser.get(f"/replays/{replay.id}/").content.decode())
    text = f"text: {WITHHELD} "
    new = f"→ new: write_file {{path: birds.txt, {text}Clara}}, list_files"
    assert f"write_file {{path: birds.txt, {text}Berta}} {new}" in shown
    assert f"answers: Done. {new}" in shown


def test_a_call_without_a_recorded_answer_has_a_row_that_says_so(
    browser: Client, project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="No answers", by="test")
    append(session.id, [replace(asked([QUESTION], None), input=None, name=None)])
    replay = replayed(session, AUDIT.with_model(None))
    assert "no text" in words(browser.get(f"/replays/{replay.id}/").content.decode())


def test_a_link_shows_a_replayed_call_without_what_its_profile_withholds(
    project: Project, replay: Replay
) -> None:
    profile = as_profile(make_profile(project, "No birds", read_rules(RULES), by="test"))
    visitor, path = opened(shared(project, replay, Terms(redaction=profile))[1])
    page = visitor.get(f"{path}steps/1/").text
    assert "write_file" in page
    assert "birds.txt" in page
    assert not re.search("kanari|4711", page, re.IGNORECASE)
    steps = visitor.get(path).text
    assert "→" in steps
    assert not re.search("kanari|4711", steps, re.IGNORECASE)


def test_the_form_chooses_calls_by_a_filter(browser: Client, session: Session, stub: StubModelServer) -> None:
    form = browser.get(f"/sessions/{session.key}/replay/").content.decode()
    assert "2 model calls" in words(form)
    sent = {"kind": "ask", "model": "openai:gpt-4o", "reason": "Why?", "sample": "1"}
    launched = browser.post(f"/sessions/{session.key}/replay/", {**sent, "only": "agent:reader"})
    assert launched.status_code == 302
    assert Replay.objects.get().steps.count() == 1
    refused = browser.post(f"/sessions/{session.key}/replay/", {**sent, "only": "tol:x"})
    assert refused.status_code == 422
    assert "tol" in words(refused.content.decode())


def test_a_model_call_is_tried_again_with_another_last_message(
    browser: Client, session: Session, stub: StubModelServer
) -> None:
    form = f"/sessions/{session.key}/steps/1/trial/"
    shown = words(browser.get(form).content.decode())
    assert "Call the model again" in shown
    for absent in ("llm_call", "Passages", "passages", "Retrieval", "Top-k", "{question}"):
        assert absent not in shown.partition("Help and shortcuts")[0]
    sent = {"question": "", "model": "openai:gpt-4o", "temperature": "0.5"}
    assert browser.post(form, sent).status_code == 302
    assert browser.post(form, sent | {"question": "And now?"}).status_code == 302
    for replay in Replay.objects.order_by("created_at"):
        work(replay.id, "test")
    first, second = stub.calls()
    assert (first.body["messages"][-1]["content"], first.body["temperature"]) == (QUESTION["content"], 0.5)
    assert second.body["messages"][-1]["content"] == "And now?"


def test_the_recorded_side_has_the_duration_of_the_step(
    browser: Client, project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Timed", by="test")
    append(session.id, [asked([QUESTION], "Hi.", duration_ms=1234)])
    replay = replayed(session, AUDIT)
    page = words(browser.get(f"/replays/{replay.id}/steps/1/").content.decode())
    assert "Call duration 1.2 s" in page
    visitor, path = opened(shared(project, replay)[1])
    assert "Call duration 1.2 s" in words(visitor.get(f"{path}steps/1/").text)


def test_the_forms_say_what_was_not_recorded_before_anything_is_sent(
    browser: Client, project: Project
) -> None:
    turns = only_turns(project)
    for path in ("replay/", "continue/?from=5"):
        form = words(browser.get(f"/sessions/{turns.id}/{path}").text)
        assert "Not recorded, and so not sent: system prompt, parameters." in form
        assert "the model is offered 1 tool as the recorded calls show them: read_file" in form


def test_the_forms_of_whole_requests_say_nothing_of_that(browser: Client, session: Session) -> None:
    for path in ("replay/", "continue/?from=1"):
        assert "Not recorded, and so not sent" not in browser.get(f"/sessions/{session.id}/{path}").text


def test_a_cost_that_is_recorded_only_for_the_whole_session_is_named_as_such(
    browser: Client, project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Costs at the end", by="test")
    call = asked([QUESTION], "Hi.", prices={"source": "stated", "with": "end"})
    end = ActionDraft(kind="event", id="end", name="run_ended", cost_usd=Decimal("1.15"), prices=dict(STATED))
    append(session.id, [replace(call, cost_usd=None), end])
    stub.script(Script(answer="Hi."))
    shown = words(browser.get(f"/replays/{replayed(session, AUDIT).id}/").content.decode())
    assert "recorded cost: only for the whole session, $1.15" in shown
    assert "unknown price" not in shown.partition("recorded cost")[2]


def test_the_session_says_which_steps_the_spend_limit_left_out(
    browser: Client, session: Session, stub: StubModelServer
) -> None:
    replayed(session, AUDIT.model_copy(update={"spend_limit_usd": 0.000001}))
    shown = words(browser.get(f"/sessions/{session.id}/").text)
    assert "Replay done: 0 of 2 steps, 2 not asked because of the spend limit" in shown


def test_a_visitor_reads_what_was_not_recorded_and_which_tools_were_offered(
    project: Project, stub: StubModelServer
) -> None:
    replay = replayed(only_turns(project), AUDIT)
    visitor, path = opened(shared(project, replay)[1])
    page = words(visitor.get(f"{path}steps/2/").text)
    assert "Not recorded: system prompt, tool definitions, parameters." in page
    assert "The model was offered 1 tool as the recorded calls show them: read_file" in page
