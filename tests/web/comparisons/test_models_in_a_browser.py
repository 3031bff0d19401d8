"""The list of a model picker in a real browser: arrow keys open it and choose at once."""

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.web.people import chromium_of
from tests.web.timelines import example_actions, recorded
from timemachine.core.accounts.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_arrow_key_opens_the_list_and_chooses_as_after_a_click(
    chromium: Browser, live_server: LiveServer, project: Project, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    recorded(project, example_actions())
    context = chromium_of(project, chromium, live_server)
    page = context.new_page()
    page.goto(f"{live_server.url}/comparisons/new/")
    page.wait_for_load_state()  # a key pressed before the scripts have loaded has no effect
    first, second = page.locator("#id_arm1-model"), page.locator("#id_arm2-model")
    first.click()
    for field in (first, second):
        field.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(field).to_have_value("local:extractive-3")
    context.close()
