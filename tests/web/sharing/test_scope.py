"""The access matrix: every route under /share/ in the URL configuration, and everything outside a link.

Its cases: another session, a later step, another replay or comparison, a link that is revoked, expired, forbidden, erased, exhausted, one
whose passphrase is missing, a grant that has expired or belongs to another link, and every other method. A new route without a
case fails; so does an answer without the headers of /share/.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from typing import Any, cast

import pytest
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import Model, QuerySet
from django.template import Context
from django.test import Client
from django.utils.functional import LazyObject

from tests.governance.sharing.recorded import recorded
from tests.web.people import browser_of
from tests.web.routes import every_route
from tests.web.sharing.share_worlds import SHARE_CASES, ShareCase, address_formats
from tests.web.visitors import opened, shared
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.governance.sharing.commands.links import revoke, set_policy
from timemachine.governance.sharing.models import ShareGrant, ShareLink
from timemachine.governance.sharing.pure.terms import Policy, Terms
from timemachine.governance.sharing.pure.token import new_token
from timemachine.recording.sessions.deletions import erase_session

SENTENCE = "This link does not exist or is no longer valid. Ask the sender for a new one."
OPENING_ROUTE, VERIFY_ROUTE, FALLBACK_ROUTE = "share", "shared_verify", "shared_nothing"
PAGES = ("shared", "shared_step", "shared_cell", "shared_certificate")
OF_DJANGO = {"request", "user", "perms", "messages", "csrf_token"}


# --- visitors for whom the link or their grant no longer shows anything


def revoked(share_case: ShareCase) -> Client:
    revoke(share_case.link, by="Test")
    return share_case.visitor


def expired(share_case: ShareCase) -> Client:
    ShareLink.objects.filter(pk=share_case.link.pk).update(expires_at=now())
    return share_case.visitor


def forbidden(share_case: ShareCase) -> Client:
    set_policy(share_case.link.project, Policy(forbidden=True), by="Test")
    return share_case.visitor


def erased(share_case: ShareCase) -> Client:
    for session in share_case.sessions:
        erase_session(session)
    return share_case.visitor


def grant_expired(share_case: ShareCase) -> Client:
    ShareGrant.objects.update(expires_at=now())
    return share_case.visitor


def exhausted(share_case: ShareCase) -> Client:
    """A visitor who comes after the link was opened as often as allowed."""
    ShareLink.objects.filter(pk=share_case.link.pk).update(max_opens=1, opens=1)
    late = Client()
    assert is_the_same_404(late.post(share_case.path))
    return late


def wrong_passphrase(share_case: ShareCase) -> Client:
    """A visitor with the address but without the passphrase."""
    ShareLink.objects.filter(pk=share_case.link.pk).update(passphrase_hash=make_password("Käse"))
    stranger = Client()
    assert stranger.post(share_case.path, {"passphrase": "Brot"}).status_code == 401
    return stranger


def with_another_links_grant(share_case: ShareCase) -> Client:
    project = Project.objects.create(name="Fremd")
    link, path = shared(project, recorded(project))
    theirs = opened(path)[0].cookies[f"tms_{link.public_id}"].value
    stranger = Client()
    for public_id in (share_case.link.public_id, link.public_id):
        stranger.cookies[f"tms_{public_id}"] = theirs
    return stranger


def without_a_grant(share_case: ShareCase) -> Client:
    return Client()


def member_of_the_project(share_case: ShareCase) -> Client:
    return browser_of(share_case.link.project, "admin")


ENDS = [revoked, expired, forbidden, erased, grant_expired, exhausted, wrong_passphrase]
STRANGERS = [with_another_links_grant, without_a_grant, member_of_the_project]


def is_the_same_404(answer: Any) -> bool:
    assert_shared(answer)
    return answer.status_code == 404 and SENTENCE in answer.text


def assert_shared(answer: Any, referrer: str = "no-referrer") -> None:
    """Check the headers of every answer under /share/: not stored, not indexed, not framed, not sent as a referrer."""
    path = answer.wsgi_request.path
    headers = {name: answer.headers.get(name) for name in SHARE_HEADERS}
    assert headers == SHARE_HEADERS, path
    assert answer.headers["Referrer-Policy"] == referrer, path
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy or "sandbox" in policy, path


SHARE_HEADERS = {
    "Cache-Control": "no-store, private",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
}


class RolledBack(Exception):
    """Raised to roll back what a case did."""


@contextmanager
def rolled_back() -> Iterator[None]:
    """Roll back everything that is done inside."""
    with suppress(RolledBack), transaction.atomic():
        yield
        raise RolledBack


def rows_in(value: Any, place: str) -> Iterator[str]:
    """Yield where a value contains rows of the database, or something that would read some."""
    if isinstance(value, Model | QuerySet):
        yield f"{place} is a {type(value).__name__}"
    for name, each in inside(value):
        yield from rows_in(each, f"{place}{name}")


def inside(value: Any) -> Iterable[tuple[str, Any]]:
    """Return the parts of a value, by how code accesses them."""
    if isinstance(value, LazyObject):
        return [("", value.__class__ and value._wrapped)]  # the first operand makes it load its value
    if isinstance(value, Mapping):
        return [(f"[{name!r}]", each) for name, each in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return [(f"[{number}]", each) for number, each in enumerate(value)]
    if is_dataclass(value):
        return [(f".{each.name}", getattr(value, each.name)) for each in fields(value)]
    return []


def test_every_route_under_share_has_its_cases() -> None:
    routes = {route.name for route in every_route() if route.written.lstrip("^").startswith("share")}
    shares = {"shares", "share_link", "revoke_share", "revoke_all_shares"}
    assert routes - shares == {*address_formats("x"), OPENING_ROUTE, VERIFY_ROUTE, FALLBACK_ROUTE}, (
        "a new route under /share/ needs its cases here"
    )


@pytest.fixture(scope="module", params=SHARE_CASES, ids=lambda make: make.__name__)
def share_case_once(request: pytest.FixtureRequest, shared_rows: None) -> ShareCase:
    project, other_project = (Project.objects.create(name=name) for name in ("Prüfung", "Somebody else's"))
    made: ShareCase = request.param(project, other_project)
    return made


@pytest.fixture
def share_case(share_case_once: ShareCase, db: None) -> ShareCase:
    return share_case_once


def test_a_link_shows_what_it_covers_and_the_same_404_for_everything_else(share_case: ShareCase) -> None:
    inside = share_case.addresses(share_case.inside)
    for address in inside:
        answer = share_case.visitor.get(address)
        assert answer.status_code == 200, address
        assert_shared(answer)
        if answer.streaming:
            assert answer.getvalue()
    pages = set()
    for what, things in share_case.outside.items():
        for address in share_case.addresses(things):
            answer = share_case.visitor.get(address)
            assert is_the_same_404(answer), (what, address)
            pages.add(answer.text)
    assert len(pages) == 1
    for end in (*ENDS, *STRANGERS):
        with rolled_back():
            visitor = end(share_case)
            for address in share_case.one_of_each_route:
                assert is_the_same_404(visitor.get(address)), (end.__name__, address)


def test_under_share_only_opening_a_link_is_allowed(share_case: ShareCase) -> None:
    for visitor in (share_case.visitor, Client()):
        for address in share_case.one_of_each_route:
            for method in ("post", "put", "patch", "delete", "options"):
                answer = getattr(visitor, method)(address)
                assert answer.status_code == 405, (method, address)
                assert_shared(answer)
        for method in ("put", "patch", "delete", "options"):
            answer = getattr(visitor, method)(share_case.path)
            assert answer.status_code == 405
            assert_shared(answer)
    share_case.link.refresh_from_db()
    assert (share_case.link.opens, share_case.link.revoked_at) == (1, None)


def test_no_template_of_a_shared_page_gets_a_database_row(share_case: ShareCase) -> None:
    for address in share_case.addresses(
        {name: share_case.inside[name] for name in PAGES if name in share_case.inside}
    ):
        answer = share_case.visitor.get(address)
        assert answer.status_code == 200, address
        contexts: list[Any] = [each.flatten() for each in cast("Sequence[Context]", answer.context)]
        assert any("link" in each for each in contexts)
        for context in contexts:
            shown = {name: each for name, each in context.items() if name not in OF_DJANGO}
            assert list(rows_in(shown, address)) == []


def test_a_nested_database_row_is_found(project: Project) -> None:
    assert list(rows_in({"steps": [(1, project)]}, "page")) == ["page['steps'][0][1] is a Project"]


def test_every_link_that_cannot_be_opened_gives_the_same_404(project: Project) -> None:
    link, path = shared(project, recorded(project))
    share_case = ShareCase(
        visitor=Client(),
        link=link,
        path=path,
        sessions=(link.session,) if link.session else (),
        inside={},
        outside={},
    )
    answers = [
        Client().post(f"/share/{token}") for token in (new_token(), ":token", f"tms_{link.public_id}_x")
    ]
    for end in (revoked, expired, forbidden, erased, exhausted):
        with rolled_back():
            end(share_case)
            answers.append(Client().post(path))
    assert all(is_the_same_404(answer) for answer in answers)
    assert len({answer.text for answer in answers}) == 1


@pytest.mark.parametrize(
    "address", ["/share", "/share/", "/share/x/y", "/share/x/static/app.css", "/share/x/favicon.ico/"]
)
def test_every_other_address_under_share_is_a_404_for_every_method(address: str, db: None) -> None:
    for method in ("get", "head", "post", "put", "delete"):
        answer = getattr(Client(), method)(address)
        assert answer.status_code == 404
        assert_shared(answer)


def test_a_server_error_under_share_has_the_headers_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = shared(project, recorded(project))
    visitor, page = opened(path)
    monkeypatch.setattr("timemachine.web.sharing.views.shared.about", None)
    visitor.raise_request_exception = False
    broken = visitor.get(page)
    assert broken.status_code == 500
    assert_shared(broken)


def test_the_opening_page_has_the_headers_and_a_referrer_for_its_form(project: Project) -> None:
    _, path = shared(project, recorded(project), Terms(passphrase="Käse"))
    for address in (path, "/share/robots.txt", "/share/style.css", f"/share/{new_token()}"):
        assert_shared(Client().get(address), referrer="strict-origin")
    assert_shared(Client().post(path), referrer="strict-origin")
    assert_shared(Client().post(path, {"passphrase": "Käse"}))
    refused = Client(enforce_csrf_checks=True).post(path)
    assert refused.status_code == 403
    assert_shared(refused)


PREVIEWERS = (
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "WhatsApp/2.23.20.0",
    "TelegramBot (like TwitterBot)",
    "facebookexternalhit/1.1",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Microsoft Office/16.0 (Microsoft Outlook Mail 16.0)",
    "LinkedInBot/1.0",
    "",
)


def test_requests_by_link_previewers_do_not_count(project: Project) -> None:
    link, path = shared(project, recorded(project), Terms(max_opens=1))
    for number in range(20):
        agent = PREVIEWERS[number % len(PREVIEWERS)]
        previewer = Client(headers={"user-agent": agent})
        assert (previewer.head if number % 10 == 0 else previewer.get)(path).status_code == 200
    link.refresh_from_db()
    assert (link.opens, link.openings.filter(by=None).count(), link.grants.count()) == (0, 0, 0)
    assert opened(path)
