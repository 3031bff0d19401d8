"""Sharing through the front door: created by a member, opened by somebody without an account, ended by a click."""

import html
import io
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.test import Client

from tests.accounts.people import member
from tests.sharing.recorded import FROZEN, recorded, replayed
from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.base.content import text_sha256
from timemachine.recording.models import Session
from timemachine.replay.models import Replay
from timemachine.sharing.commands import create_link, revoke
from timemachine.sharing.models import ShareGrant, ShareLink, ShareOpening
from timemachine.sharing.terms import Terms
from timemachine.sharing.token import new_token
from timemachine.web import urls_shares

SENTENCE = "There is no such link, or it is no longer valid. Ask whoever sent it for a new one."
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


@pytest.fixture
def session(project: Project) -> Session:
    return recorded(project)


@pytest.fixture
def replay(session: Session) -> Replay:
    return replayed(session)


@pytest.fixture
def operator(project: Project) -> Client:
    return browser_of(project, "operator")


def browser_of(project: Project, role: str) -> Client:
    client = Client()
    client.force_login(member(project, role).user)
    return client


def form_at(client: Client, address: str, **said: str) -> dict[str, str]:
    """What the form at that address sends, with some of it filled in."""
    page = client.get(address)
    assert page.status_code == 200, page.text
    found = re.search(r'name="form_id" value="([^"]+)"', page.text)
    assert found
    return {"form_id": found[1], "lifetime": "14", **said}


def created_at(client: Client, address: str, **said: str) -> str:
    """The path of a link that was created by the form at that address."""
    page = client.post(address, form_at(client, address, **said))
    assert page.status_code == 201, page.text
    assert "no-store" in page["Cache-Control"]
    found = re.search(r'id="shown_once"[^>]*value="http://127.0.0.1:8000(/share/[^"]+)"', page.text)
    assert found
    return html.unescape(found[1])


def opened(path: str, **said: str) -> tuple[Client, str]:
    """A visitor without an account who pressed the button, and the path they got to."""
    visitor = Client(headers={"user-agent": FIREFOX}, REMOTE_ADDR="203.0.113.77")
    assert visitor.get(path).status_code == 200
    sent = visitor.post(path, said)
    assert sent.status_code == 303, sent.text
    return visitor, sent["Location"]


def shared(project: Project, target: Session | Replay, terms: Terms = Terms()) -> tuple[ShareLink, str]:  # noqa: B008
    link, token = create_link(project, target, terms, by="anna@example.org")
    return link, f"/share/{token}"


# --- the story


def test_a_link_is_created_opened_without_an_account_revoked_and_then_not_found(
    project: Project, session: Session, operator: Client
) -> None:
    path = created_at(operator, f"/sessions/{session.key}/share/", label="für Müller ☃")
    visitor, page = opened(path)
    seen = visitor.get(page)
    assert seen.status_code == 200
    assert "Prüfung der Brücke ☃" in seen.text
    listed = operator.get("/shares/").text
    assert "für Müller ☃" in listed
    assert "203.0.113.0/24" in listed
    assert "Firefox" in listed
    assert path not in listed
    link = ShareLink.objects.get()
    assert operator.post(f"/shares/{link.id}/revoke/")["Location"] == "/shares/"
    assert visitor.get(page).status_code == 404
    assert visitor.post(path).status_code == 404
    assert "revoked" in operator.get(f"/shares/{link.id}/").text
    assert "refused: revoked" in operator.get(f"/shares/{link.id}/").text


def test_a_shared_session_shows_its_steps_with_what_was_frozen_and_the_json(
    project: Project, session: Session
) -> None:
    visitor, page = opened(shared(project, session)[1])
    first = visitor.get(page).text
    assert first.count('class="row ') == 6
    assert "anna@example.org" in first
    assert "1894" in visitor.get(page, {"step": "2"}).text
    assert FROZEN in visitor.get(page, {"step": "2", "tab": "context"}).text
    assert "Quelle der dritten" in html.unescape(visitor.get(page, {"step": "3", "tab": "raw"}).text)


def test_a_page_of_a_visitor_leads_nowhere_else(project: Project, session: Session, replay: Replay) -> None:
    for target in (session, replay):
        visitor, page = opened(shared(project, target)[1])
        for address in (page, f"{page}?step=3&tab=raw", f"{page}steps/2/"):
            links = re.findall(r'(?:href|action|src|hx-get)="([^"]*)"', visitor.get(address).text)
            outside = [link for link in links if not link.startswith(("?", "#", "/static/", page))]
            assert not outside, address


def test_a_visitor_downloads_what_the_link_shows_and_no_browser_runs_it(
    project: Project, session: Session
) -> None:
    visitor, page = opened(shared(project, session)[1])
    file = visitor.get(f"{page}payloads/{text_sha256(FROZEN)}/")
    assert file.content.decode() == FROZEN
    assert file["Content-Disposition"].startswith("attachment")
    assert file["Content-Type"] == "text/plain; charset=utf-8"
    assert file["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in file["Content-Security-Policy"]


def test_a_shared_replay_shows_what_came_of_it_and_each_step_side_by_side(
    project: Project, replay: Replay
) -> None:
    visitor, page = opened(shared(project, replay)[1])
    first = visitor.get(page).text
    assert "1 ask replayed with local:extractive-1" in first
    assert "Jährliche Prüfung" in first
    assert f"{page}steps/2/" in first
    step = visitor.get(f"{page}steps/2/").text
    assert "1894" in step
    assert "1901" in step


def test_a_part_of_a_shared_page_is_that_part_and_of_a_link_that_ended_nothing(
    project: Project, session: Session
) -> None:
    link, path = shared(project, session)
    visitor, page = opened(path)
    of_htmx = {"HX-Request": "true", "HX-Target": "article#step"}
    part = visitor.get(page, {"step": "2"}, headers=of_htmx)
    assert part.text.lstrip().startswith("<article")
    assert "1894" in part.text
    assert 'class="row' not in part.text
    assert "HX-Refresh" not in part
    revoke(link, by="Test")
    gone = visitor.get(page, {"step": "2"}, headers=of_htmx)
    assert gone.status_code == 404
    assert gone["HX-Refresh"] == "true"


# --- what the owners may


def test_a_viewer_sees_the_links_and_can_neither_create_nor_revoke(
    project: Project, session: Session, replay: Replay
) -> None:
    link, _ = shared(project, session)
    viewer = browser_of(project, "viewer")
    assert "Prüfung der Brücke ☃" in viewer.get("/shares/").text
    assert "Revoke" not in viewer.get("/shares/").text + viewer.get(f"/shares/{link.id}/").text
    for address in (f"/sessions/{session.id}/share/", f"/replays/{replay.id}/share/"):
        assert viewer.get(address).status_code == 403
        assert viewer.post(address, {"lifetime": "14"}).status_code == 403
    assert viewer.post(f"/shares/{link.id}/revoke/").status_code == 403
    link.refresh_from_db()
    assert link.revoked_at is None
    assert ShareLink.objects.count() == 1


def test_what_belongs_to_another_project_is_not_there(
    project: Project, other_project: Project, session: Session, replay: Replay
) -> None:
    link, _ = shared(project, session)
    stranger = browser_of(other_project, "admin")
    for address in (f"/sessions/{session.id}/share/", f"/replays/{replay.id}/share/", f"/shares/{link.id}/"):
        assert stranger.get(address).status_code == 404
    assert stranger.post(f"/sessions/{session.id}/share/", {"lifetime": "14"}).status_code == 404
    assert stranger.post(f"/shares/{link.id}/revoke/").status_code == 404
    assert session.name not in stranger.get("/shares/").text


def test_nobody_sees_the_links_without_signing_in(session: Session) -> None:
    for address in ("/shares/", f"/sessions/{session.id}/share/"):
        assert Client().get(address)["Location"].startswith("/sign-in/")


def test_the_same_form_sent_again_creates_nothing_and_says_so(session: Session, operator: Client) -> None:
    address = f"/sessions/{session.id}/share/"
    sent = form_at(operator, address)
    assert operator.post(address, sent).status_code == 201
    again = operator.post(address, sent)
    assert again.status_code == 409
    assert "sent before" in again.text
    assert ShareLink.objects.count() == 1


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"until": "2020-01-01"}, "expired already"),
        ({"until": "2999-01-01"}, "at most 366 days"),
        ({"max_opens": "0"}, "greater than or equal to 1"),
        ({"through_sequence": "7"}, "no step 7"),
        ({"lifetime": "never"}, "not one of the available choices"),
        ({"label": "x" * 201}, "at most 200"),
        ({"form_id": "x"}, ""),
    ],
)
def test_a_form_that_cannot_be_says_why_and_keeps_what_was_said(
    session: Session, operator: Client, said: dict[str, str], sentence: str
) -> None:
    address = f"/sessions/{session.id}/share/"
    page = operator.post(address, form_at(operator, address, **{"label": "für Zoë", **said}))
    assert page.status_code == 422
    assert sentence in html.unescape(page.text)
    assert said.get("label", "für Zoë") in page.text
    assert not ShareLink.objects.exists()


def test_a_day_as_the_end_is_that_whole_day(session: Session, operator: Client) -> None:
    day = (now() + timedelta(days=3)).date()
    created_at(operator, f"/sessions/{session.id}/share/", until=day.isoformat())
    end = ShareLink.objects.get().expires_at
    assert (end.date(), end.hour, end.minute) == (day, 23, 59)


def test_a_replay_is_shared_from_its_own_form(replay: Replay, operator: Client) -> None:
    path = created_at(operator, f"/replays/{replay.id}/share/", max_opens="1", passphrase="Käse")
    assert opened(path, passphrase="Käse")
    link = ShareLink.objects.get()
    assert (link.target_type, link.opens, link.max_opens) == ("replay", 1, 1)


def test_the_list_of_links_goes_on_where_a_page_ended(
    monkeypatch: pytest.MonkeyPatch, project: Project, session: Session, operator: Client
) -> None:
    monkeypatch.setattr("timemachine.web.views.shares.SHOWN_LINKS", 2)
    for number in range(3):
        shared(project, session, Terms(label=f"label {number}"))
    first = operator.get("/shares/").text
    assert "label 2" in first
    assert "label 0" not in first
    following = re.search(r'href="(\?after=[^"]+)"', first)
    assert following
    rest = operator.get(f"/shares/{following[1]}").text
    assert "label 0" in rest
    assert "label 1" not in rest


def test_without_a_link_the_list_says_what_to_do(operator: Client) -> None:
    assert "Nothing is shared" in operator.get("/shares/").text


# --- opening


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


def test_over_https_the_cookie_is_secure(settings: object, project: Project, session: Session) -> None:
    settings.SECURE = True  # type: ignore[attr-defined]
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


# --- what every answer under /share/ has in common


def every_answer(project: Project, session: Session, replay: Replay) -> Iterator[tuple[str, object]]:
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
        headers = answer.headers  # type: ignore[attr-defined]
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


# --- the matrix: every route under /share/, everything that lies outside a link


@dataclass(kw_only=True)
class World:
    """A link that a visitor has open, and everything around it that this link must not show."""

    visitor: Client
    link: ShareLink
    inside: dict[str, list[str]]
    outside: dict[str, list[str]]
    others: list[ShareLink] = field(default_factory=list)


def nested_routes() -> list[str]:
    """The names of the routes under /share/ that need a grant."""
    routes = {str(pattern.pattern): pattern for pattern in urls_shares.urlpatterns}
    return [str(each.name) for route, each in routes.items() if route.startswith("share/<str:public_id>/")]


def addresses(public_id: str) -> dict[str, Callable[[str], str]]:
    """How each route is written for one thing it could show; a route without an entry fails the matrix."""
    return {
        "shared": lambda step: f"/share/{public_id}/?step={step}" if step else f"/share/{public_id}/",
        "shared_step": lambda step: f"/share/{public_id}/steps/{step}/",
        "shared_payload": lambda sha256: f"/share/{public_id}/payloads/{sha256}/",
    }


def session_world(project: Project, other_project: Project) -> World:
    session = recorded(project, steps=9)
    replayed(session)
    recorded(project, steps=12)
    recorded(other_project, steps=13)
    link, path = shared(project, session, Terms(through_sequence=4))
    visitor, _ = opened(path)
    beyond = [text_sha256(text) for text in ("Geheim 9", "Schritt 5", "1901", "Geheim 12", "Geheim 13")]
    return World(
        visitor=visitor,
        link=link,
        inside={"shared": ["", "1", "4"], "shared_step": [], "shared_payload": [text_sha256(FROZEN)]},
        outside={
            "shared": ["5", "9", "0", "-1", "10", "x", "9" * 30],
            "shared_step": ["1", "2", "5", "99"],
            "shared_payload": [*beyond, "x", "0" * 64],
        },
    )


def replay_world(project: Project, other_project: Project) -> World:
    session = recorded(project, steps=9)
    replayed(recorded(project, steps=12))
    replayed(recorded(other_project, steps=13))
    link, path = shared(project, replayed(session))
    visitor, _ = opened(path)
    beyond = [text_sha256(text) for text in ("Geheim 9", "Schritt 4", "Geheim 12", "Geheim 13")]
    return World(
        visitor=visitor,
        link=link,
        inside={
            "shared": [""],
            "shared_step": ["2"],
            "shared_payload": [text_sha256(FROZEN), text_sha256("1901")],
        },
        outside={
            "shared": [],
            "shared_step": ["1", "3", "9", "99", "9" * 30],
            "shared_payload": [*beyond, "x"],
        },
    )


WORLDS = [session_world, replay_world]


def is_the_same_404(answer: object) -> bool:
    return answer.status_code == 404 and SENTENCE in answer.text  # type: ignore[attr-defined]


def test_the_matrix_knows_every_route() -> None:
    assert sorted(addresses("x")) == sorted(nested_routes())
    routes = [str(pattern.pattern) for pattern in urls_shares.urlpatterns]
    share = [route for route in routes if route.startswith(("share/", "^share"))]
    assert len(share) == len(nested_routes()) + 2, "a new route under /share/ needs its cases here"


@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize("route", nested_routes())
class TestMatrix:
    def test_what_lies_within_is_shown(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project
    ) -> None:
        world = make(project, other_project)
        for thing in world.inside[route]:
            address = addresses(world.link.public_id)[route](thing)
            assert world.visitor.get(address).status_code == 200, address

    def test_what_lies_outside_is_the_same_404(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project
    ) -> None:
        world = make(project, other_project)
        pages = set()
        for thing in world.outside[route]:
            answer = world.visitor.get(addresses(world.link.public_id)[route](thing))
            assert is_the_same_404(answer), thing
            pages.add(answer.text)
        assert len(pages) <= 1

    @pytest.mark.parametrize("end", ["revoked", "expired", "erased", "grant over"])
    def test_what_was_shown_is_the_same_404_once_the_link_ends(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project, end: str
    ) -> None:
        world = make(project, other_project)
        if end == "revoked":
            revoke(world.link, by="Test")
        elif end == "expired":
            ShareLink.objects.filter(pk=world.link.pk).update(expires_at=now())
        elif end == "erased":
            world.link.delete()
        else:
            ShareGrant.objects.update(expires_at=now())
        for thing in world.inside[route] + world.outside[route]:
            assert is_the_same_404(world.visitor.get(addresses(world.link.public_id)[route](thing))), thing

    def test_the_cookie_of_another_link_shows_nothing(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project
    ) -> None:
        world, other = make(project, other_project), make(project, other_project)
        mine, theirs = (f"tms_{each.link.public_id}" for each in (world, other))
        stranger = Client()
        stranger.cookies[mine] = other.visitor.cookies[theirs].value
        stranger.cookies[theirs] = other.visitor.cookies[theirs].value
        for visitor in (stranger, Client()):
            for thing in world.inside[route]:
                address = addresses(world.link.public_id)[route](thing)
                assert is_the_same_404(visitor.get(address)), address

    def test_a_member_of_the_project_needs_the_link_too(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project
    ) -> None:
        world = make(project, other_project)
        admin = browser_of(project, "admin")
        for thing in world.inside[route]:
            assert is_the_same_404(admin.get(addresses(world.link.public_id)[route](thing))), thing
