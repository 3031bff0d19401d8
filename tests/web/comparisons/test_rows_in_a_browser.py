"""Rows of comparisons in a real browser: a click anywhere in a row or an answer opens it."""

import re

import pytest
from playwright.sync_api import Browser, Locator, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.builders import QUESTIONS, compared, recorded_session
from tests.web.people import chromium_of
from timemachine.core.accounts.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_click_beside_the_text_opens_a_comparison_an_answer_and_a_step(
    chromium: Browser, live_server: LiveServer, project: Project, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    session = recorded_session(project, questions=QUESTIONS[:1])
    made = compared(project, [session], "local:extractive-1", "local:extractive-3")
    context = chromium_of(project, chromium, live_server)
    page = context.new_page()
    page.goto(f"{live_server.url}/comparisons/")
    click_in_the_corner(page.locator("tbody tr"))
    expect(page).to_have_url(re.compile(f"/comparisons/{made.id}/$"))
    click_in_the_corner(page.locator(".matrix tbody td").last)
    expect(page).to_have_url(re.compile(f"/comparisons/{made.id}/cells/"))
    page.go_back()
    click_in_the_corner(page.locator(".matrix tbody th"))
    expect(page).to_have_url(re.compile(f"/sessions/{session.id}/"))
    context.close()


def test_the_text_of_an_answer_can_be_selected_and_a_click_on_it_opens_it(
    chromium: Browser, live_server: LiveServer, project: Project, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["localhost"]
    made = compared(
        project,
        [recorded_session(project, questions=QUESTIONS[:1])],
        "local:extractive-1",
        "local:extractive-3",
    )
    context = chromium_of(project, chromium, live_server)
    page = context.new_page()
    page.goto(f"{live_server.url}/comparisons/{made.id}/")
    excerpt = page.locator(".matrix .excerpt").last
    excerpt.scroll_into_view_if_needed()
    box = excerpt.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 12, steps=20)
    page.mouse.up()
    selected = page.evaluate("getSelection().toString().trim()")
    assert selected
    assert selected in excerpt.inner_text()
    expect(page).to_have_url(re.compile(f"/comparisons/{made.id}/$"))
    page.mouse.click(box["x"] + 150, box["y"] + 8)
    expect(page).to_have_url(re.compile(f"/comparisons/{made.id}/cells/"))
    context.close()


def click_in_the_corner(box: Locator) -> None:
    box.scroll_into_view_if_needed()
    size = box.bounding_box()
    assert size is not None
    box.click(position={"x": size["width"] - 5, "y": size["height"] - 5})
