"""The result of a check stays in view in the tab in which it was made, and only for what was checked."""

import re
from functools import partial

import pytest
from playwright.sync_api import Browser, Route, expect
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.builders import tamper
from tests.evidence.sessions import compared_with_its_seal
from tests.governance.sharing.recorded import recorded
from tests.web.visitors import shared
from timemachine.core.accounts.models import Project
from timemachine.evidence.sealing.seals import seal_session
from timemachine.governance.sharing.pure.terms import Terms

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


FULL = "Storage.prototype.setItem = () => { throw new Error('full'); };"
BLOCKED = "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('blocked'); } });"
CORRUPT = "Storage.prototype.getItem = () => '{';"


def longer(route: Route) -> None:
    """Answer with the evidence and a byte more."""
    route.fulfill(body=route.fetch().body() + b"x", content_type="application/zip")


def with_another(fact: str, route: Route) -> None:
    """Answer with the page, as if it named another root or key."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace(f'data-{fact}="', f'data-{fact}="0'))


def test_the_result_of_a_check_is_still_shown_after_going_back_to_the_cover(
    chromium: Browser, live_server: LiveServer, settings: Settings, project: Project
) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    session = recorded(project)
    seal_session(session.id)
    paths = [shared(project, session, Terms(through_sequence=last))[1] for last in (4, 5)]
    context = chromium.new_context()
    page = context.new_page()
    result, again = page.locator("#verify [role=status]"), "Checked in this tab at 20"
    page.goto(live_server.url + paths[0])
    page.get_by_role("button", name="Open").click()
    page.get_by_role("button", name="Verify now").click()
    expect(result).to_contain_text("5 of 5 records shown (the first is the session itself)")
    expect(result).not_to_contain_text(again)
    for paper in ("Certificate", "Print every step"):
        page.get_by_role("link", name=paper).click()
        page.get_by_role("link", name="Back to the shared page").wait_for()
        page.go_back()
        expect(result).to_contain_text("Consistent, signer not checked")
        expect(result.locator(".result-word")).to_contain_text(again)
        expect(result).to_contain_text("Not checked again since this page was opened. The result was:")
        expect(result).not_to_have_attribute("data-result", re.compile(""))
    cover = page.url

    # another link was not checked, nor what the page shows if its root or key is another one
    page.goto(live_server.url + paths[1])
    page.get_by_role("button", name="Open").click()
    expect(result).to_contain_text("Not yet verified")
    for fact in ("root", "key"):
        page.route(cover, partial(with_another, fact))
        page.goto(cover)
        expect(result).to_contain_text("Not yet verified")
        page.unroute(cover)
    page.goto(cover)
    expect(result).to_contain_text(again)

    # and another tab has checked nothing
    other = context.new_page()
    other.goto(cover)
    expect(other.locator("#verify [role=status]")).to_contain_text("Not yet verified")
    context.close()


def test_a_fault_is_kept_too_and_nothing_is_recalled_once_the_server_has_found_an_alteration(
    chromium: Browser, live_server: LiveServer, settings: Settings, project: Project
) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    session = recorded(project)
    seal_session(session.id)
    page = chromium.new_page()
    result = page.locator("#verify [role=status]")
    page.route("**/evidence.zip", longer)  # not while the page changes: a request then may not be intercepted
    page.goto(live_server.url + shared(project, session)[1])
    page.get_by_role("button", name="Open").click()
    page.get_by_role("button", name="Verify now").click()
    fault = "After its end there is 1 byte not covered by any file or signature"
    expect(result).to_contain_text(fault)
    page.reload()
    expect(result.locator(".bad")).to_have_text("Not verified: 1 fault")
    expect(result).to_contain_text(fault)

    tamper("UPDATE tm_action SET name = 'another' WHERE session_id = %s AND sequence = 6", [str(session.id)])
    compared_with_its_seal(session)
    page.reload()
    expect(page.locator("body")).to_contain_text("What is stored here differs from its seal")
    expect(result).to_contain_text("Not yet verified")
    page.close()


@pytest.mark.parametrize("broken", [FULL, BLOCKED, CORRUPT])
def test_evidence_is_verified_without_a_working_storage(
    chromium: Browser, live_server: LiveServer, settings: Settings, project: Project, broken: str
) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    session = recorded(project)
    seal_session(session.id)
    page = chromium.new_page()
    page.add_init_script(broken)
    page.goto(live_server.url + shared(project, session)[1])
    page.get_by_role("button", name="Open").click()
    page.get_by_role("button", name="Verify now").click()
    result = page.locator("#verify [role=status]")
    expect(result).to_contain_text("Consistent, signer not checked")
    expect(result).to_have_attribute("data-result", "ok")
    page.close()
