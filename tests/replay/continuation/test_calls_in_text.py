"""An agent that writes its calls into the text of its answers: its texts are replayed and compared, and no run goes on."""

import json
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import Program, program
from tests.builders import replayed
from tests.replay.continuation.conftest import MODEL
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from tests.web.timelines import words
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions

LOOK = "I look.\n```bash\nls\n```"
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Answer with exactly ONE bash code block."},
    {"role": "user", "content": "Which files are there?"},
    {"role": "assistant", "content": LOOK},
    {"role": "user", "content": "<output>a.txt</output>"},
    {"role": "assistant", "content": "I am done.\n```bash\necho COMPLETE\n```"},
]
SAYS = "this agent writes its tool calls as text"


@pytest.fixture
def written(db: None, project: Project) -> Session:
    data = json.dumps({"info": {"mini_version": "1.0.0"}, "messages": MESSAGES}).encode()
    (imported,) = import_file(project, data, filename="a.traj.json", by="test").sessions
    return imported.session


@pytest.fixture
def replay(written: Session, stub: StubModelServer) -> Replay:
    stub.script(Script(answer=LOOK, times=1))
    stub.script(Script(answer="There is nothing to do."))
    return replayed(written, ReplayOptions(audit=True, reason="Same?", use_model=MODEL))


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def call_of(session: Session) -> int:
    return session.actions.filter(kind="llm_call").earliest("sequence").sequence


def test_no_tools_are_offered_and_the_texts_are_compared(
    replay: Replay, api: Program, stub: StubModelServer
) -> None:
    assert [sent.body.get("tools") for sent in stub.calls()] == [None, None]
    found = api.get(f"/replays/{replay.id}").json()
    assert (found["calls_in_text"], found["inferred_tools"]) == (2, 0)
    assert "tool definitions" not in found["absent"]
    assert f"{SAYS}, so the texts are compared" in found["summary"]
    first, second = api.get(f"/replays/{replay.id}/steps").json()["items"]
    assert first["verdict"] == "identical"
    assert second["verdict"] not in {"identical", "answers_instead"}


def test_the_pages_say_that_the_texts_are_compared(
    replay: Replay, written: Session, browser: Client, project: Project
) -> None:
    form = words(browser.get(f"/sessions/{written.id}/replay/").text)
    assert (
        "This agent writes its tool calls as text, so no tools are offered and the texts are compared."
        in form
    )
    number = call_of(written)
    step = words(browser.get(f"/replays/{replay.id}/steps/{number}/").text)
    assert f"{SAYS}, so the texts are compared" in step
    visitor, path = opened(shared(project, replay)[1])
    assert f"{SAYS.capitalize()}, so the texts are compared." in words(
        visitor.get(f"{path}steps/{number}/").text
    )


def test_its_request_lacks_no_tools(written: Session, api: Program, browser: Client) -> None:
    number = call_of(written)
    found = api.get(f"/sessions/{written.id}/actions/{number}/request").json()
    assert found["calls_in_text"]
    assert "tool definitions" not in found["absent"]
    context = words(browser.get(f"/sessions/{written.id}/?step={number}&tab=context").text)
    assert f"{SAYS.capitalize()}." in context


def test_a_run_of_it_does_not_go_on(
    written: Session, api: Program, browser: Client, stub: StubModelServer
) -> None:
    number = call_of(written)
    refused = api.post(f"/sessions/{written.id}/continue", {"from": number, "model": MODEL})
    assert (refused.status_code, refused.json()["code"]) == (422, "not_sendable")
    assert (
        f"{SAYS.capitalize()}, so the calls of another model cannot be recognised"
        in refused.json()["message"]
    )
    assert "Replay its model calls instead" in refused.json()["message"]
    form = words(browser.get(f"/sessions/{written.id}/continue/?from={number}").text)
    assert "Replay its model calls instead" in form
    assert not stub.calls()


def test_an_agent_that_also_makes_calls_of_the_api_is_offered_their_tools(
    written: Session, project: Project, stub: StubModelServer
) -> None:
    agent = written.actions.get(sequence=call_of(written)).agent
    append(
        written.id,
        [ActionDraft(kind="tool_call", tool="search", input={"q": "a"}, agent=agent)],
        was_open=True,
    )
    replayed(written, ReplayOptions(audit=True, reason="Same?", use_model=MODEL))
    offered = [[tool["function"]["name"] for tool in sent.body["tools"]] for sent in stub.calls()]
    assert offered == [["search"], ["search"]]
