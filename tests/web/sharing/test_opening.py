"""Opening a link: what counts as opening, what is required, and what all answers under /share/ have in common."""

import io
import logging
import re
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.governance.sharing.recorded import recorded, replayed
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.governance.sharing import log
from timemachine.governance.sharing.commands.links import revoke
from timemachine.governance.sharing.models import ShareGrant
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.pure.token import new_token
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.models import Replay


@pytest.fixture
def session(project: Project) -> Session:
    return recorded(project)


@pytest.fixture
def replay(session: Session) -> Replay:
    return replayed(session)


def test_the_page_before_opening_is_the_same_for_every_address(project: Project, session: Session) -> None:
    paths = [shared(project, session)[1], shared(project, session, Terms(passphrase="Käse"))[1]]
    spent, spent_path = shared(project, session)
    revoke(spent, by="Test")
    paths += [spent_path, f"/share/{new_token()}", "/share/:token", "/share/x", "/share/robots.txt"]
    pages = {
        re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "", Client().get(path).text) for path in paths
    }
    assert len(pages) == 1
    assert session.name not in pages.pop()


def test_a_passphrase_is_requested_after_the_button_and_a_wrong_one_reported(
    project: Project, session: Session
) -> None:
    _, path = shared(project, session, Terms(passphrase="schöner Käse"))
    visitor = Client()
    assert 'name="passphrase"' not in visitor.get(path).text
    prompt = visitor.post(path)
    assert prompt.status_code == 401
    assert 'name="passphrase"' in prompt.text
    assert "Nothing is recorded before you press the button." in visitor.get(path).text
    assert "Attempts with a wrong passphrase are recorded too." in prompt.text
    for page in (visitor.get(path), prompt):
        assert "your network (not your full address)" in page.text
        assert "Only the project that shared it sees this." in page.text
    wrong = visitor.post(path, {"passphrase": "Brot"})
    assert "The passphrase is wrong" in wrong.text
    assert visitor.post(path, {"passphrase": "schöner Käse"}).status_code == 303


def test_repeated_guesses_are_rate_limited(project: Project, session: Session) -> None:
    visitor = Client(REMOTE_ADDR="203.0.113.77")
    for _ in range(10):
        assert visitor.post(f"/share/{new_token()}").status_code == 404
    limited = visitor.post(f"/share/{new_token()}")
    assert limited.status_code == 429
    assert 0 < int(limited["Retry-After"]) <= 60
    assert '<a class="button" href="">Back to the link</a>' in limited.text
    assert limited["Cache-Control"] == "no-store, private"


def test_reading_faster_than_people_do_is_rate_limited_with_an_explanation(
    project: Project, session: Session
) -> None:
    visitor, page = opened(shared(project, session)[1])
    ShareGrant.objects.update(views=600)
    limited = visitor.get(page)
    assert limited.status_code == 429
    assert 0 < int(limited["Retry-After"]) <= 60
    assert "Too many requests" in limited.text
    assert session.name not in limited.text
    assert f'<a class="button" href="{page}">Back to the shared page</a>' in limited.text
    assert "Try again in " in limited.text
    part = visitor.get(page, {"step": "2"}, headers={"HX-Request": "true", "HX-Target": "article#step"})
    assert (part.status_code, part["HX-Refresh"]) == (429, "true")


def test_the_cookie_is_limited_to_the_pages_of_its_link_and_hidden_from_scripts(
    project: Project, session: Session
) -> None:
    link, path = shared(project, session, Terms(expires_at=now() + timedelta(hours=1)))
    visitor, page = opened(path)
    cookie = visitor.cookies[f"tms_{link.public_id}"]
    assert cookie["path"] == page == f"/share/{link.public_id}/"
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert 3500 < int(cookie["max-age"]) <= 3600
    assert cookie.value not in path


def test_reopening_an_open_link_does_not_count(project: Project, session: Session) -> None:
    link, path = shared(project, session, Terms(passphrase="Möwe am Kai", max_opens=1))
    visitor, page = opened(path, passphrase="Möwe am Kai")
    opening_cookie = visitor.cookies[f"tms_{link.public_id}_opening"]
    assert (opening_cookie["path"], opening_cookie["httponly"], opening_cookie["samesite"]) == (
        path,
        True,
        "Lax",
    )
    assert visitor.get(path).status_code == 200
    reopened = visitor.post(path)
    assert (reopened.status_code, reopened["Location"]) == (303, page)
    assert visitor.get(page).status_code == 200
    link.refresh_from_db()
    assert (link.opens, link.grants.count(), link.openings.count()) == (1, 1, 2)
    assert Client().post(path).status_code == 404
    revoke(link, by="anna@example.org")
    assert visitor.post(path).status_code == 404


def test_over_https_the_cookie_is_secure(settings: Settings, project: Project, session: Session) -> None:
    settings.SECURE = True
    link, path = shared(project, session)
    cookie = Client().post(path).cookies[f"__Secure-tms_{link.public_id}"]
    assert cookie["secure"]
    assert 43100 < int(cookie["max-age"]) <= 43200


def test_a_form_from_another_site_opens_nothing(project: Project, session: Session) -> None:
    link, path = shared(project, session)
    refused = Client(enforce_csrf_checks=True).post(path)
    assert refused.status_code == 403
    assert refused["Cache-Control"] == "no-store, private"
    link.refresh_from_db()
    assert link.opens == 0


def test_search_engines_are_asked_to_leave_shared_pages_alone(client: Client) -> None:
    robots = client.get("/robots.txt")
    assert robots["Content-Type"].startswith("text/plain")
    assert "Disallow: /share/" in robots.text.splitlines()


def test_no_secret_reaches_the_log(project: Project, session: Session) -> None:
    _, path = shared(project, session)
    handler = logging.getLogger().handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(written := io.StringIO())
    try:
        visitor = Client()
        visitor.get(path)
        visitor.put(path)
        visitor.get(f"{path}/")
        visitor.get(f"{path}/steps/1/")
        visitor.post(f"{path}x")
        Client(enforce_csrf_checks=True).post(path)
        visitor.post(path)
    finally:
        handler.setStream(before)
    assert "/share/" in written.getvalue()
    assert path.split("_", 2)[2] not in written.getvalue()


def test_a_download_of_the_evidence_is_a_line_of_the_access_log(
    project: Project, session: Session, operator: Client
) -> None:
    link, path = shared(project, session)
    visitor = Client(REMOTE_ADDR="203.0.113.9", headers={"user-agent": "Firefox/145.0"})
    page = visitor.post(path)["Location"]
    assert visitor.get(f"{page}evidence.zip").getvalue().startswith(b"PK")
    lines = list(log.lines_of(link))
    assert [each.result for each in lines] == ["created", "opened", "downloaded"]
    assert (lines[2].address, lines[2].browser) == ("203.0.113.0/24", "Firefox")
    assert log.checked(link).broken is None
    assert "downloaded the evidence" in operator.get(f"/shares/{link.pk}/").text


def test_a_change_of_the_policy_is_shown_without_null(project: Project) -> None:
    admin = browser_of(project, "admin")
    admin.post("/settings/sharing/", {"passphrase_required": "on"})
    page = admin.get("/settings/sharing/").text
    assert "default" in page
    assert "null" not in page.split('id="changes"')[1]


def test_the_page_labels_its_time_span(project: Project, session: Session) -> None:
    visitor, to = opened(shared(project, session)[1])
    page = visitor.get(to).text
    assert ("<dt>Duration</dt>" in page.partition("</header>")[0]) == any(
        each.started_at for each in session.actions.all()
    )
