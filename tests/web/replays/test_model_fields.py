"""What the forms that call a model say of models: where those not listed can be called, and why one cannot be."""

import re

import pytest
from django.test import Client

from tests.api.conftest import program
from tests.builders import recorded_session
from tests.replay.runs.test_model_calls import QUESTION, READ, asked
from tests.web.people import browser_of
from tests.web.replays.suite_forms import words
from timemachine.core.accounts.models import Project
from timemachine.core.pure.ids import uuid7
from timemachine.llm.table import PROVIDERS
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session

NO_KEY = "OPENAI_API_KEY is not set, and this project does not have its own key."


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for variable in (provider.base_url_variable, provider.key_variable):
            if variable:
                monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def session(db: None, project: Project) -> Session:
    session = start_session(project, name="Notes", by="test")
    append(session.id, [asked([QUESTION], READ)])
    session.refresh_from_db()
    return session


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def test_a_request_for_a_model_without_a_key_is_a_warning_in_the_log(
    browser: Client, project: Project, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    api = program(project)
    collection = recorded_session(project, key="handbook").collection
    asking = start_session(project, name="Asks", by="test", collection=collection)
    model = "openai:gpt-4o"
    answers = [
        browser.post(forms_of(session)[1], {"model": model, "form_id": str(uuid7())}),
        api.post(f"/sessions/{session.id}/replays", {"audit": True, "reason": "R", "use_models": [model]}),
        api.post(f"/sessions/{asking.id}/ask", {"question": "When?", "use_model": model}),
    ]
    assert [each.status_code for each in answers] == [503, 503, 503]
    assert [(each.levelname, each.exc_info) for each in caplog.records] == [("WARNING", None)] * 3


def forms_of(session: Session) -> list[str]:
    of = f"/sessions/{session.id}"
    return [
        f"{of}/replay/",
        f"{of}/steps/1/trial/",
        f"{of}/continue/?from=1",
        f"/suites/new/?session={session.id}",
    ]


def test_the_recorded_model_is_offered_with_the_reason_why_it_cannot_be_called(
    browser: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, trial, to_continue, _ = forms_of(session)
    for form in (trial, to_continue):
        assert f"Leave empty to use the recorded model: openai:gpt-4o-mini: {NO_KEY}" in words(browser, form)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    for form in (trial, to_continue):
        shown = words(browser, form)
        assert "Leave empty to use the recorded model: openai:gpt-4o-mini" in shown
        assert NO_KEY not in shown


def test_every_form_that_calls_a_model_offers_the_recorded_ones(browser: Client, session: Session) -> None:
    append(session.id, [asked([QUESTION], READ, model="anthropic:claude-3-5-haiku-20241022")])
    forms = [*forms_of(session), f"/comparisons/new/?session={session.id}"]
    for form in forms:
        offered = re.findall(r'<option value="([^"]+)"\s+data-price', browser.get(form).text)
        assert {"openai:gpt-4o-mini", "anthropic:claude-3-5-haiku-20241022"} <= set(offered), form


def test_models_at_an_address_that_the_operator_set_can_be_written(
    browser: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint = "can be written as openai:NAME."
    assert not any(hint in words(browser, form) for form in forms_of(session))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9999/v1")
    for form in forms_of(session):
        assert f"Any model of http://127.0.0.1:9999/v1 {hint}" in words(browser, form)
