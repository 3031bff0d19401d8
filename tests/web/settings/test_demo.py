"""The demo, loaded and removed with a button."""

import pytest
from django.test import Client

from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.pure.options import ReplayOptions

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def page(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_demo_is_loaded_and_removed_with_one_click_each(browser: Client, project: Project) -> None:
    loaded = browser.post("/demo/")
    assert loaded.status_code == 303
    assert "12 francs" in page(browser, loaded["Location"])
    collection = Session.objects.get().collection
    mine = start_session(project, name="mine", by="test", collection=collection)
    browser.post(f"/sessions/{mine.id}/work/", {"do": "find", "text": "card", "mode": "hybrid", "top_k": "3"})
    assert "Remove demo" in page(browser, "/")
    assert browser.post("/demo/remove/").status_code == 303
    assert [each.name for each in Session.objects.all()] == ["mine"]
    assert "Remove demo" not in page(browser, "/")


def test_removing_an_extended_demo_asks_for_confirmation(browser: Client, project: Project) -> None:
    browser.post("/demo/")
    demo = Session.objects.get()
    launch(demo, ReplayOptions(audit=True, reason="a test"), by="somebody")
    question = browser.post("/demo/remove/")
    assert "1 replay" in question.content.decode()
    assert Session.objects.exists()
    assert browser.post("/demo/remove/", {"confirmed": "1"}).status_code == 303
    assert not Session.objects.exists()
    assert "Demo removed" in page(browser, "/")
