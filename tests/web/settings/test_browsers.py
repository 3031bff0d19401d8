"""Signed-in browsers: how long they stay signed in, and signing out the others."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F
from django.test import Client
from playwright.sync_api import Browser
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.core.accounts.people import PASSWORD, member
from timemachine.core.accounts.models import BrowserSession, Project, User
from timemachine.core.pure.clock import now

ROOT = Path(__file__).parents[3]
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/19.0 Mobile/15E148 Safari/604.1"
)


@pytest.fixture
def user(project: Project) -> User:
    return member(project, "viewer", "a@example.org").user


def polls_in_templates() -> list[str]:
    """Return every trigger with `every …` in a template, without the parts that templates compute."""
    triggers = {
        re.sub(r"{%.*?%}", "", found)
        for one in ROOT.glob("templates/**/*.html")
        for found in re.findall(r'hx-trigger="([^"]*\bevery [^"]*)"', one.read_text())
    }
    return sorted(triggers)


def signed_in(user: User, user_agent: str = FIREFOX, address: str = "192.0.2.77") -> Client:
    client = Client(headers={"User-Agent": user_agent}, REMOTE_ADDR=address)
    assert client.post("/sign-in/", {"email": user.email, "password": PASSWORD}).status_code == 303
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/settings/").status_code == 200


def unused_for(time: timedelta) -> None:
    BrowserSession.objects.update(seen_at=F("seen_at") - time, expire_date=F("expire_date") - time)


def test_the_list_names_each_browser_and_its_network_but_not_its_key(user: User) -> None:
    phone = signed_in(user, SAFARI, "2001:db8:1:2::3")
    here = signed_in(user)
    page = here.get("/settings/").text
    for words in ("Firefox on Linux", "192.0.2.0/24", "Safari on iPhone", "2001:db8:1::/48", "this browser"):
        assert words in page
    assert "192.0.2.77" not in page
    for client in (phone, here):
        assert client.cookies["tm_session"].value not in page


def test_another_browser_is_signed_out_from_the_list(user: User) -> None:
    phone, here = signed_in(user, SAFARI), signed_in(user)
    page = here.get("/settings/").text
    [path] = re.findall(r'action="(/settings/browsers/\w{16}/sign-out/)"', page)
    assert "Signed out: Safari on iPhone." in here.post(path, follow=True).text
    assert not is_signed_in(phone)
    assert is_signed_in(here)
    again = here.post(path)
    assert again.status_code == 404
    assert "already signed out" in again.text


def test_signing_out_this_browser_by_its_id_leads_to_the_sign_in_page(user: User) -> None:
    here = signed_in(user)
    path = f"/settings/browsers/{BrowserSession.objects.get().public_id}/sign-out/"
    assert here.post(path)["Location"] == "/sign-in/"
    assert not is_signed_in(here)


def test_all_other_browsers_are_signed_out_at_once(project: Project, user: User) -> None:
    others = [signed_in(user), signed_in(user, SAFARI)]
    colleague, here = signed_in(member(project, "admin").user), signed_in(user)
    page = here.post("/settings/browsers/sign-out/", follow=True).text
    assert "2 other browsers signed out." in page
    assert "Sign out all other browsers" not in page
    assert [is_signed_in(one) for one in (*others, colleague, here)] == [False, False, True, True]


def test_a_browser_of_another_person_cannot_be_signed_out(project: Project, user: User) -> None:
    here, colleague = signed_in(user), signed_in(member(project, "admin").user)
    [theirs] = BrowserSession.objects.exclude(user=user)
    assert here.post(f"/settings/browsers/{theirs.public_id}/sign-out/").status_code == 404
    assert is_signed_in(colleague)


def test_a_browser_that_is_not_used_is_signed_out(user: User) -> None:
    client = signed_in(user)
    unused_for(timedelta(hours=11, minutes=59))
    assert is_signed_in(client)
    unused_for(timedelta(hours=12))
    assert not is_signed_in(client)
    signed_in(user)
    assert BrowserSession.objects.filter(user=user).count() == 1


def test_use_is_noted_once_a_minute(user: User) -> None:
    client = signed_in(user)
    unused_for(timedelta(seconds=30))
    before = BrowserSession.objects.get().seen_at
    assert is_signed_in(client)
    assert BrowserSession.objects.get().seen_at == before
    unused_for(timedelta(seconds=30))
    assert is_signed_in(client)
    assert BrowserSession.objects.get().seen_at > before


def test_a_page_that_updates_itself_is_not_use(user: User) -> None:
    client = signed_in(user)
    unused_for(timedelta(hours=6))
    before = BrowserSession.objects.get().seen_at
    assert client.get("/settings/", headers={"X-Poll": "yes"}).status_code == 200
    assert BrowserSession.objects.get().seen_at == before
    assert client.get("/settings/").status_code == 200
    assert BrowserSession.objects.get().seen_at > before


def test_every_page_that_polls_says_so() -> None:
    """htmx's polls by timemachine.js, wherever htmx is; those of other scripts by themselves."""
    with_htmx = [one for one in ROOT.glob("templates/**/*.html") if "htmx.min.js" in one.read_text()]
    assert with_htmx
    assert [one for one in with_htmx if "js/timemachine.js" not in one.read_text()] == []
    repeating = {
        one.name
        for one in ROOT.glob("static/js/*.js")
        if "fetch(" in one.read_text() and re.search("setTimeout|setInterval", one.read_text())
    }
    silent = {name for name in repeating if '"X-Poll"' not in (ROOT / "static/js" / name).read_text()}
    assert silent == {"ahead.js", "check-here.js", "judging.js"}, "these only follow what a person does"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("trigger", polls_in_templates())
def test_each_poll_says_so_and_a_click_does_not(
    trigger: str, project: Project, user: User, chromium: Browser, live_server: LiveServer
) -> None:
    page = chromium.new_context().new_page()
    page.goto(f"{live_server.url}/sign-in/")
    page.evaluate(
        """(trigger) => {
          document.body.insertAdjacentHTML("beforeend", `<a id=poll hx-get="/sign-in/?poll" hx-swap="none"></a>`);
          document.getElementById("poll").setAttribute("hx-trigger", trigger);
          document.body.insertAdjacentHTML("beforeend", `<button id=click hx-get="/sign-in/?click" hx-swap="none">Click</button>`);
          htmx.process(document.body);
        }""",
        trigger,
    )
    with page.expect_request("**/sign-in/?poll") as poll:
        pass
    assert poll.value.headers.get("x-poll") == "yes"
    with page.expect_request("**/sign-in/?click") as click:
        page.locator("#click").click()
    assert "x-poll" not in click.value.headers
    page.context.close()


def test_a_browser_in_use_is_signed_out_after_the_longest_time(user: User) -> None:
    client = signed_in(user)
    session = client.session
    session["signed_in_at"] = (now() - timedelta(days=7) + timedelta(minutes=1)).timestamp()
    session.save()
    unused_for(timedelta(0))
    assert is_signed_in(client)
    [row] = BrowserSession.objects.all()
    assert row.expire_date - now() < timedelta(minutes=1)
    session["signed_in_at"] = (now() - timedelta(days=7)).timestamp()
    session.save()
    assert not is_signed_in(client)


def test_lower_limits_hold_for_browsers_that_are_already_signed_in(user: User, settings: Settings) -> None:
    client = signed_in(user)
    unused_for(timedelta(minutes=20))
    settings.SIGN_IN_IDLE = timedelta(minutes=15)
    assert not is_signed_in(client)


def test_changing_the_password_signs_out_all_other_browsers(user: User) -> None:
    phone, here = signed_in(user, SAFARI), signed_in(user)
    new = "another copper kettle"
    here.post("/settings/password/", {"current": PASSWORD, "password": new, "again": new})
    assert not is_signed_in(phone)
    page = here.get("/settings/").text
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" not in page


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_person_signs_out_a_forgotten_browser(
    project: Project, user: User, chromium: Browser, live_server: LiveServer
) -> None:
    forgotten, here = (chromium.new_context().new_page() for _ in range(2))
    for page in (forgotten, here):
        page.goto(f"{live_server.url}/settings/")
        page.get_by_label("E-mail").fill(user.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Signed-in browsers").wait_for()
    here.reload()
    here.get_by_role("button", name="Sign out all other browsers").click()
    here.get_by_text("1 other browser signed out.").wait_for()
    forgotten.reload()
    forgotten.get_by_role("heading", name="Sign in").wait_for()
    for page in (forgotten, here):
        page.context.close()
