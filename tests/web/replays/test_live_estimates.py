"""The estimate next to the forms that launch something other than a replay. It follows the fields before anything is launched."""

import re

import pytest
from django.test import Client

from tests.replay.continuation.conftest import drafts
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay
from timemachine.replay.suites.models import Suite
from timemachine.replay.sweeps.models import Sweep

LIVE = {"HX-Request": "true", "HX-Target": "estimate"}


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def estimate(browser: Client, address: str, **sent: str | list[str]) -> str:
    """Return the text of the estimate as the browser gets it while a person fills in the form."""
    answer = browser.post(address, sent, headers=LIVE)
    assert (answer.status_code, answer.text.lstrip()[:18]) == (200, '<div id="estimate"')
    return " ".join(re.sub(r"<[^>]+>", " ", answer.text).split())


def test_every_form_that_launches_something_has_a_live_estimate(browser: Client, session: Session) -> None:
    of, chosen = f"/sessions/{session.id}", [str(session.id)]
    find, ask = (session.actions.filter(kind=kind).earliest("sequence") for kind in ("find", "ask"))
    models = {"arm1-model": "local:extractive-1", "arm2-model": "local:extractive-3"}
    grid: dict[str, str | list[str]] = {
        "modes": ["hybrid", "lexical"],
        "top_k": "4, 8",
        "adaptive": ["no"],
        "as_of": "now",
    }
    shown = estimate(browser, "/comparisons/new/", sessions=chosen, repeats="2", **models)
    assert "Steps 3 asks, 2 times, for each of 2 models Model calls 12" in shown
    assert "local:extractive-1 $0 local:extractive-3 $0 Cost $0" in shown
    assert "Choose at least one session" in estimate(browser, "/comparisons/new/", repeats="1", **models)
    assert "Model calls none" in estimate(browser, "/suites/new/", sessions=chosen, kind="verify")
    assert "choose a model" in estimate(browser, "/suites/new/", sessions=chosen, kind="ask")
    assert "Settings 4 Searches" in estimate(browser, f"{of}/sweep/", **grid)
    assert "whole numbers" in estimate(browser, f"{of}/sweep/", **(grid | {"top_k": "many"}))
    shown = estimate(browser, f"{of}/steps/{ask.sequence}/trial/", question="Why?", max_tokens="100")
    assert "Steps 1 ask Model calls 1" in shown
    assert "Steps 1 find Model calls none" in estimate(
        browser, f"{of}/steps/{find.sequence}/trial/", question="Why?"
    )
    for made in (Comparison, Suite, Sweep, Replay):
        assert not made.objects.exists()


def test_a_continuation_is_estimated_from_the_calls_that_the_recording_made(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    added = start_session(project, name="Adding", by="test")
    append(added.id, drafts())
    call = added.actions.filter(kind="llm_call").earliest("sequence")
    form = f"/sessions/{added.id}/continue/?from={call.sequence}"
    assert "Model calls 1 " in estimate(browser, form, model="openai:gpt-4o", max_calls="1")
    shown = estimate(browser, form, model="openai:gpt-4o")
    assert f"Model calls {added.actions.filter(kind='llm_call').count()} " in shown
    assert "The run ends earlier if the record has no answer." in shown
    assert not Replay.objects.exists()
    assert "Estimate cost" in browser.get(form).text
    assert "Model calls" in browser.post(form, {"model": "openai:gpt-4o", "estimate": "1"}).text


def test_the_first_variant_without_a_model_gets_the_focus(browser: Client, session: Session) -> None:
    refused = browser.post("/comparisons/new/", {"sessions": [str(session.id)], "repeats": "1"}).text
    assert refused.count("autofocus") == 1
    assert re.search('<input[^>]* name="arm1-model"[^>]* autofocus', refused)
    refused = browser.post("/comparisons/new/", {"repeats": "1"}).text
    assert re.findall('id="([^"]+)" tabindex="-1" autofocus', refused) == ["id_sessions"]
