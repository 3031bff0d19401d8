"""Replay pages: errors, changed parameters, and steps that were left out."""

import html
import re
from collections.abc import Iterator, Sequence

import pytest
from django.test import Client
from pytest_django import Settings

from tests.api.conftest import program
from tests.builders import QUESTIONS, recorded_session, replayed
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.commands import cancel, launch
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions

MODEL = "openai:gpt-4o"
REFUSED = '{"error": {"message": "no such thing"}}'


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    settings.MODEL_CALLS_AT_ONCE = 1  # threads would not see a test's rows
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
        server.script(Script(answer="Ten years."))
        yield server


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def audit(
    project: Project,
    *,
    recorded_with: str = "local:extractive-1",
    questions: Sequence[str] = QUESTIONS,
    **chosen: object,
) -> Replay:
    return audit_of(recorded_session(project, model=recorded_with, questions=questions), **chosen)


def audit_of(session: Session, **chosen: object) -> Replay:
    given = {"audit": True, "reason": "r", "use_model": MODEL, "skip_finds": True} | chosen
    return replayed(session, ReplayOptions(**given))


def words(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", answer.text).split()))


def test_a_replay_with_failed_steps_names_the_error(
    project: Project, browser: Client, stub: StubModelServer
) -> None:
    stub.script(Script(mode="error", status=400, body=REFUSED))
    replay = audit(project)
    shown = words(browser, f"/replays/{replay.id}/")
    assert re.search(r"most frequent error \(3 of 3\): [^;]*no such thing", shown)


def test_replayed_asks_are_shown_with_their_recorded_cost(
    project: Project, browser: Client, stub: StubModelServer
) -> None:
    shown = words(browser, f"/replays/{audit(project, recorded_with=MODEL).id}/")
    assert re.search(r"\(recorded \$0\.0\d+\)", shown)
    assert "these 3 calls cost $0.0" in shown


def test_a_step_skipped_for_the_spend_limit_is_compared_as_not_asked(
    project: Project, browser: Client, stub: StubModelServer
) -> None:
    replay = audit(project, spend_limit_usd=0.0000001)
    assert set(replay.steps.values_list("status", flat=True)) == {"skipped"}
    shown = words(browser, f"/compare/?a={replay.session_id}&b={replay.id}")
    assert shown.count("not asked: spend limit") == len(QUESTIONS)
    assert "All 4 Changed 1 Only left 1 Not asked 3 " in shown  # the find, which the replay leaves out
    only = words(browser, f"/compare/?a={replay.session_id}&b={replay.id}&show=not_asked")
    assert only.count("not asked: spend limit") == len(QUESTIONS)
    compared = program(project, "read").get(f"/compare?a={replay.session_id}&b={replay.id}").json()
    assert compared["counts"] | {"only_left": 0} == dict.fromkeys(compared["counts"], 0) | {"not_asked": 3}
    assert [item["b"]["not_asked"] for item in compared["items"] if item["b"]] == ["spend limit"] * 3


def test_a_replay_without_model_calls_shows_no_recorded_cost(project: Project, browser: Client) -> None:
    session = recorded_session(project)
    replay = cancel(
        launch(session, ReplayOptions(audit=True, reason="r", use_model="local:extractive-3"), by="z")
    )
    shown = words(browser, f"/replays/{replay.id}/")
    assert "0 steps of 4 checked, no model called cancelled 4 steps cancelled" in shown
    assert "recorded $" not in shown
    assert "when recorded" not in shown


def test_a_step_shows_which_parameters_of_its_call_were_changed(
    project: Project, browser: Client, stub: StubModelServer
) -> None:
    session = recorded_session(project, model=MODEL, questions=QUESTIONS[:1])
    replay = audit_of(session, system_prompt="Answer in Latin.", max_tokens=70)
    shown = words(browser, f"/replays/{replay.id}/steps/2/")
    assert (
        "System prompt, changed Answer in Latin. instead of You answer questions from the numbered" in shown
    )
    assert "Max tokens, changed 70 instead of an unrecorded one" in shown
    assert "The local model uses no prompt" not in shown
    recorded = replay.steps.get(sequence=2).action.parameters or {}
    same_prompt = audit_of(session, system_prompt=recorded["system_prompt"])
    assert ", changed" not in words(browser, f"/replays/{same_prompt.id}/steps/2/")
    unchanged = audit(project, questions=QUESTIONS[:1])
    assert ", changed" not in words(browser, f"/replays/{unchanged.id}/steps/2/")


def test_a_step_says_that_the_local_model_uses_no_prompt(project: Project, browser: Client) -> None:
    template = "{passages} Answer in one word: {question}"
    replay = audit(
        project,
        questions=QUESTIONS[:1],
        use_model="local:extractive-1",
        prompt_template=template,
        skip_finds=False,
    )
    shown = words(browser, f"/replays/{replay.id}/steps/2/")
    assert f"Prompt template, changed {template}" in shown
    assert "The local model uses no prompt" in shown
    find = words(browser, f"/replays/{replay.id}/steps/1/")
    assert "prompt" not in find.casefold()


def test_the_rank_biased_overlap_is_shown_with_its_depth(project: Project, browser: Client) -> None:
    session = recorded_session(project, questions=QUESTIONS[:1], top_k=4)
    replay = replayed(session, ReplayOptions(top_k=1, as_of="recorded"))
    shown = words(browser, f"/replays/{replay.id}/steps/1/")
    assert "Rank-biased overlap 1.00 down to rank 1, the end of the shorter list (p = 0.9)" in shown


def test_long_counts_have_thousands_separators(
    project: Project, browser: Client, stub: StubModelServer
) -> None:
    stub.script(Script(answer="Ten years. " * 300))
    replay = audit(project, recorded_with=MODEL, questions=QUESTIONS[:1])
    shown = words(browser, f"/replays/{replay.id}/steps/2/")
    assert re.search(r"Characters in both 3,(299|300) ", shown)
