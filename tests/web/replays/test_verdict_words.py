"""What a model did instead of what was recorded, in the same words on every page: fewer calls, more calls, or other tools."""

import re
from collections.abc import Iterator, Sequence

import pytest
from django.test import Client
from pytest_django import Settings

from tests.api.conftest import Program, program
from tests.builders import compared, replayed
from tests.replay.continuation.conftest import stubbed
from tests.replay.runs.test_model_calls import AUDIT, MODEL, QUESTION, a_call, asked
from tests.replay.suites.conftest import launched, made, work_off
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from tests.web.replays.suite_forms import page, words
from tests.web.visitors import opened, shared
from timemachine.cli.output.suites import run_lines
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session

CALLS = pytest.mark.parametrize(
    ("recorded", "new", "verdict", "where"),
    [
        (["ls", "cat", "ls"], ["ls"], "fewer calls", "cat, ls only in the recording"),
        (["ls"], ["ls", "cat"], "more calls", "cat only in the new answer"),
        (["ls"], ["cat"], "other tool", "ls only in the recording, cat only in the new answer"),
    ],
)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


def recorded_calls(project: Project, tools: Sequence[str]) -> Session:
    session = start_session(project, name="Calls", key="calls", by="test")
    answer = a_call(tools[0])
    answer["tool_calls"] = [
        {**call, "id": f"c{place}"} for place, name in enumerate(tools) for call in a_call(name)["tool_calls"]
    ]
    append(session.id, [asked([QUESTION], answer)])
    session.refresh_from_db()
    return session


def answers_with(stub: StubModelServer, tools: Sequence[str]) -> None:
    stub.script(Script(answer="", tools=tuple((name, {}) for name in tools)))


@CALLS
def test_a_replay_says_it_in_its_list_on_its_step_and_where_it_first_differs(
    browser: Client,
    api: Program,
    project: Project,
    stub: StubModelServer,
    recorded: list[str],
    new: list[str],
    verdict: str,
    where: str,
) -> None:
    answers_with(stub, new)
    replay = replayed(recorded_calls(project, recorded), AUDIT)
    shown = words(browser, f"/replays/{replay.id}/steps/1/")
    assert f"Action {verdict}" in shown
    assert f" calls: {where}." in shown
    assert f"verified {verdict} $" in words(browser, f"/replays/{replay.id}/")
    found = api.get(f"/replays/{replay.id}").json()["first_divergence"]
    assert found == {"sequence": 1, "verdict": "other_tool", "in_words": verdict, "earlier_unanswered": 0}


@CALLS
def test_a_comparison_says_it_in_its_matrix_and_its_filter_says_that_calls_differ(
    browser: Client,
    project: Project,
    stub: StubModelServer,
    recorded: list[str],
    new: list[str],
    verdict: str,
    where: str,
) -> None:
    answers_with(stub, new)
    comparison = compared(project, [recorded_calls(project, recorded)], MODEL, "openai:gpt-4o-mini")
    visitor, path = opened(shared(project, comparison)[1])
    for shown in (page(browser, f"/comparisons/{comparison.id}/"), page(visitor, path)):
        assert re.findall(r'class="verdict other_tool" href="[^"]+" *>([^<]+)<', shown) == [verdict, verdict]
        assert re.findall(r"verdict=other_tool[^>]+>([^<]+)<", shown) == ["calls differ 1"]


@CALLS
def test_a_suite_says_it_of_each_step_and_of_all_that_calls_differ(
    browser: Client,
    api: Program,
    project: Project,
    stub: StubModelServer,
    recorded: list[str],
    new: list[str],
    verdict: str,
    where: str,
) -> None:
    answers_with(stub, new)
    key = recorded_calls(project, recorded).key
    suite = made(api, key, use_models=[MODEL])
    launched(api)
    work_off()
    shown = words(browser, f"/suites/{suite['id']}/runs/1/")
    assert f"first differs at step 1 {verdict}" in shown
    assert "calls differ" in words(browser, f"/suites/{suite['id']}/")
    (step,) = api.get("/suites/nightly/runs/1/report").json()["items"]
    assert step["after"]["in_words"] == verdict
    run = api.get("/suites/nightly/runs/1").json()
    printed = "\n".join(run_lines(run, [step], ""))
    assert f"First differs, calls: step 1, {verdict}" in printed
