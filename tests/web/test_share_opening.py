"""Opening a link: what counts, what is asked for, and what every answer under /share/ has in common."""

import io
import logging
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.sharing.recorded import FROZEN, recorded, replayed
from tests.web.visitors import opened, shared
from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.base.content import text_sha256
from timemachine.recording.models import Session
from timemachine.replay.models import Replay
from timemachine.sharing.commands import revoke
from timemachine.sharing.models import ShareGrant, ShareOpening
from timemachine.sharing.terms import Terms
from timemachine.sharing.token import new_token


@pytest.fixture
def session(project: Project) -> Session:
    return recorded(project)


@pytest.fixture
def replay(session: Session) -> Replay:
    return replayed(session)


def test_looking_at_the_address_counts_nothing_however_often(project: Project, session: Session) -> None:
    link, path = shared(project, session, Terms(max_opens=1))
    for _ in range(100):
        assert Client().get(path).status_code == 200
    assert Client().head(path).status_code == 200
    link.refresh_from_db()
    assert link.opens == 0
    assert not ShareOpening.objects.exists()
    assert not ShareGrant.objects.exists()


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


def test_a_passphrase_is_asked_for_after_the_button_and_a_wrong_one_said(
    project: Project, session: Session
) -> None:
    _, path = shared(project, session, Terms(passphrase="schöner Käse"))
    visitor = Client()
    assert 'name="passphrase"' not in visitor.get(path).text
    asked = visitor.post(path)
    assert asked.status_code == 401
    assert 'name="passphrase"' in asked.text
    wrong = visitor.post(path, {"passphrase": "Brot"})
    assert "This is not the passphrase" in wrong.text
    assert visitor.post(path, {"passphrase": "schöner Käse"}).status_code == 303


def test_tries_without_end_have_to_wait(project: Project, session: Session) -> None:
    visitor = Client(REMOTE_ADDR="203.0.113.77")
    for _ in range(10):
        assert visitor.post(f"/share/{new_token()}").status_code == 404
    limited = visitor.post(f"/share/{new_token()}")
    assert limited.status_code == 429
    assert 0 < int(limited["Retry-After"]) <= 60
    assert limited["Cache-Control"] == "no-store, private"


def test_the_cookie_is_for_the_pages_of_its_link_alone_and_no_script_reads_it(
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


def test_over_https_the_cookie_is_secure(settings: Settings, project: Project, session: Session) -> None:
    settings.SECURE = True
    link, path = shared(project, session)
    cookie = Client().post(path).cookies[f"__Secure-tms_{link.public_id}"]
    assert cookie["secure"]
    assert 43100 < int(cookie["max-age"]) <= 43200


def test_a_form_from_elsewhere_opens_nothing(project: Project, session: Session) -> None:
    link, path = shared(project, session)
    refused = Client(enforce_csrf_checks=True).post(path)
    assert refused.status_code == 403
    assert refused["Cache-Control"] == "no-store, private"
    link.refresh_from_db()
    assert link.opens == 0


def every_answer(project: Project, session: Session, replay: Replay) -> Iterator[tuple[str, Any]]:
    _, path = shared(project, session)
    visitor, page = opened(path)
    _, replay_page = opened(shared(project, replay)[1])
    yield "the door", visitor.get(path)
    yield "the redirect", visitor.post(path)
    yield "the wrong method", visitor.put(path)
    yield "the session", visitor.get(page)
    yield "a write", visitor.post(page)
    yield "a delete", visitor.delete(page)
    yield "a download", visitor.get(f"{page}payloads/{text_sha256(FROZEN)}/")
    yield "nothing", visitor.get(f"{page}payloads/")
    yield "nothing at all", visitor.get("/share/")
    yield "not this link", visitor.get(replay_page)
    yield "a refused form", Client(enforce_csrf_checks=True).post(path)


def test_every_answer_under_share_is_stored_indexed_and_told_nowhere(
    project: Project, session: Session, replay: Replay
) -> None:
    for name, answer in every_answer(project, session, replay):
        headers = answer.headers
        assert headers["Cache-Control"] == "no-store, private", name
        assert headers["X-Robots-Tag"] == "noindex, nofollow, noarchive", name
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin", name
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin", name
        assert headers["Referrer-Policy"] == ("same-origin" if name == "the door" else "no-referrer"), name
        assert headers["X-Frame-Options"] == "DENY", name


def test_nothing_but_opening_is_done_under_share(project: Project, session: Session, replay: Replay) -> None:
    for target in (session, replay):
        visitor, page = opened(shared(project, target)[1])
        for address in (page, f"{page}steps/2/", f"{page}payloads/{text_sha256(FROZEN)}/"):
            for method in (visitor.post, visitor.put, visitor.patch, visitor.delete):
                assert method(address).status_code == 405, address


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
    assert path.rsplit("_", 1)[1] not in written.getvalue()
