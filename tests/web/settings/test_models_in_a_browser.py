"""The models page in a real browser: a typed key outlasts an error elsewhere in its form, and a test leads back to its row."""

import re

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.builders import recorded_session
from tests.stub_model_server import StubModelServer
from tests.web.people import chromium_of
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.llm.models import ModelServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
KEY = "sk-typed-by-hand-1234"


def test_a_typed_key_stays_when_another_field_is_refused(
    chromium: Browser, live_server: LiveServer, project: Project, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    context = chromium_of(project, chromium, live_server, ADMIN)
    page = context.new_page()
    page.goto(f"{live_server.url}/settings/models/")
    page.wait_for_load_state()
    page.get_by_text("Add a server").click()
    name, key = page.locator("#server_name"), page.locator("#server_key")
    name.fill("Not A Name")
    page.locator("#server_base_url").fill("https://8.8.8.8/v1")
    key.fill(KEY)
    with page.expect_response(re.compile("/settings/models/servers/")) as refused:
        page.get_by_role("button", name="Add server").click()
    assert refused.value.status == 422
    assert KEY not in refused.value.text()
    expect(page.locator("#server_name_error")).to_be_visible()
    expect(name).to_be_focused()
    expect(key).to_have_value(KEY)
    expect(name).to_have_attribute("aria-invalid", "true")
    name.fill("house")
    expect(name).not_to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Add server").click()
    expect(page.get_by_text("Server house added.")).to_be_visible()
    expect(page.locator("#server_key")).to_have_value("")
    assert ModelServer.objects.get().encrypted_key is not None
    context.close()


def test_someone_who_adds_a_server_for_a_replay_gets_back_to_its_form_as_it_was_left(
    chromium: Browser, live_server: LiveServer, project: Project, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    session = recorded_session(project)
    context = chromium_of(project, chromium, live_server, ADMIN)
    page = context.new_page()
    page.goto(f"{live_server.url}/sessions/{session.id}/replay/")
    other = page.get_by_role("radio", name="Ask another model with the same context")
    other.check()
    page.get_by_label("Reason").fill("Quarterly check")
    page.get_by_text("Prompt and parameters").click()
    page.get_by_label("Temperature").fill("0.2")
    page.get_by_role("link", name="add a model server").click()
    expect(page.get_by_role("heading", name="Servers of this project")).to_be_in_viewport()
    page.get_by_text("Add a server").click()
    page.locator("#server_name").fill("house")
    page.locator("#server_base_url").fill("https://8.8.8.8/v1")
    page.get_by_role("button", name="Add server").click()
    expect(page.get_by_text("Server house added.")).to_be_visible()
    page.get_by_role("link", name="Back to the form").click()
    expect(page).to_have_url(f"{live_server.url}/sessions/{session.id}/replay/")
    expect(other).to_be_checked()
    expect(page.get_by_label("Reason")).to_have_value("Quarterly check")
    expect(page.get_by_label("Temperature")).to_have_value("0.2")
    page.reload()
    expect(page.get_by_label("Reason")).to_have_value("")
    context.close()


def test_a_test_leads_back_to_the_row_of_its_model(
    chromium: Browser, live_server: LiveServer, project: Project, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS, settings.MODEL_HOSTS_ALLOWED = ["localhost"], ["127.0.0.1"]
    with StubModelServer() as stub:
        ModelServer.objects.create(
            project=project, name="house", base_url=f"{stub.url}/v1", default_model="org/qwen3"
        )
        context = chromium_of(project, chromium, live_server)
        page = context.new_page()
        page.goto(f"{live_server.url}/settings/models/")
        row = page.get_by_role("row", name="house:org/qwen3")
        expect(row).to_contain_text("not checked")
        row.get_by_role("button", name="Test").click()
        expect(row).to_contain_text("answered in")
        expect(row).to_be_in_viewport()
        expect(row).to_have_css("background-color", row.evaluate(CHOSEN))
        context.close()


CHOSEN = """row => {
  const shown = document.createElement('i')
  shown.style.background = 'var(--chosen)'
  row.append(shown)
  const colour = getComputedStyle(shown).backgroundColor
  shown.remove()
  return colour
}"""
