"""Signing in by link and by password, and signing out."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from tests.core.accounts.people import PASSWORD, member, person
from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.first_start import first_run
from timemachine.core.accounts.commands.links import make_sign_in_link, sign_in_url
from timemachine.core.accounts.commands.projects import invite, make_reset_link
from timemachine.core.accounts.models import Project, SignInFailures, SignInLink, User
from timemachine.core.accounts.throttle import OF_ACCOUNT
from timemachine.core.pure.clock import now

WELCOME = {
    "email": "zoe@example.org",
    "name": "Zoë Ωmega",
    "password": PASSWORD,
    "again": PASSWORD,
}


def path_of(secret: str) -> str:
    return f"/sign-in/{secret}/"


def signed_in_as(client: Client) -> str | None:
    """Return the e-mail address of the user who is signed in to this browser."""
    found = client.session.get("_auth_user_id")
    return User.objects.get(pk=found).email if found else None


def sign_in(client: Client, email: str, password: str = PASSWORD, **more: str) -> int:
    return client.post("/sign-in/", {"email": email, "password": password, **more}).status_code


def test_the_sign_in_page_names_the_command_that_prints_a_link(db: None) -> None:
    shown = Client().get("/sign-in/").content.decode()
    assert "make link" in shown
    assert "timemachine manage sign_in_link" in shown


def test_the_first_administrator_sets_up_an_account_by_link_and_then_signs_in(
    client: Client, db: None
) -> None:
    link = path_of(make_sign_in_link(first_run()))
    assert client.post(link)["Location"] == "/welcome/"
    page = client.get("/welcome/")
    assert "You are the administrator of this server" in page.text
    sent = client.post("/welcome/", WELCOME)
    assert (sent.status_code, sent["Location"]) == (303, "/")
    assert signed_in_as(client) == "zoe@example.org"
    elsewhere = Client()
    assert sign_in(elsewhere, "Zoe@Example.org") == 303
    assert "Zoë Ωmega" in elsewhere.get("/settings/").text
    assert client.get("/welcome/")["Location"] == "/"


def test_viewing_a_link_does_not_use_it_up(client: Client, db: None) -> None:
    link = path_of(make_sign_in_link(person("a@example.org")))
    for _ in range(3):
        page = client.get(link)
        assert page.status_code == 200
        assert "a@example.org" not in page.text
        assert "no-store" in page["Cache-Control"]
    assert client.get(path_of("unknown")).text.count("<form") == page.text.count("<form") == 1
    assert signed_in_as(client) is None
    assert client.post(link)["Location"] == "/"
    assert signed_in_as(client) == "a@example.org"


def test_a_used_or_expired_link_shows_a_clear_page(client: Client, db: None) -> None:
    user = person("a@example.org")
    used, expired = make_sign_in_link(user), make_sign_in_link(user)
    client.post(path_of(used))
    SignInLink.objects.filter(used_at=None).update(expires_at=now())
    for secret in (used, expired, "unknown"):
        elsewhere = Client()
        page = elsewhere.post(path_of(secret))
        assert page.status_code == 404
        assert "This link no longer works" in page.text
        assert "Ask an administrator for a new one" in page.text
        assert signed_in_as(elsewhere) is None


def test_signing_in_gives_the_browser_a_new_session_and_a_new_csrf_token(db: None) -> None:
    person("a@example.org")
    client = Client(enforce_csrf_checks=True)
    client.get("/health/live")
    page = client.get("/sign-in/")
    session = client.session
    session["planted"] = True
    session.save()
    before = session.session_key
    client.cookies["tm_session"] = str(before)
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert token
    cookie = client.cookies["tm_csrf"].value
    sent = {"email": "a@example.org", "password": PASSWORD}
    assert client.post("/sign-in/", sent).status_code == 403
    assert client.post("/sign-in/", {**sent, "csrfmiddlewaretoken": token[1]}).status_code == 303
    assert client.cookies["tm_session"].value != before
    assert client.cookies["tm_csrf"].value != cookie
    assert client.cookies["tm_session"]["httponly"]


def test_a_wrong_password_is_reported_and_the_address_is_kept(client: Client, db: None) -> None:
    person("a@example.org")
    page = client.post("/sign-in/", {"email": "a@example.org", "password": "wrong words here"})
    assert page.status_code == 401
    assert "Wrong e-mail address or password" in page.text
    assert 'value="a@example.org"' in page.text
    assert "wrong words here" not in page.text
    assert client.post("/sign-in/", {"email": "nobody", "password": ""}).status_code == 422


def test_after_five_wrong_passwords_the_page_says_how_long_to_wait(client: Client, db: None) -> None:
    person("a@example.org")
    assert [sign_in(client, "a@example.org", "wrong") for _ in range(5)] == [401] * 5
    page = client.post("/sign-in/", {"email": "a@example.org", "password": PASSWORD})
    assert page.status_code == 429
    assert page["Retry-After"] == "1"
    assert "Try again in 1 second." in page.text
    SignInFailures.objects.update(last_at=now() - timedelta(seconds=1))
    assert sign_in(client, "a@example.org") == 303


def test_strangers_cannot_keep_a_person_out_of_a_browser_used_before(client: Client, db: None) -> None:
    user = person("a@example.org")
    assert sign_in(client, user.email) == 303
    cookie = client.cookies["tm_browser"]
    assert cookie["httponly"]
    client.post("/sign-out/")
    stranger = Client()
    for one in range(6):
        assert sign_in(stranger, user.email, f"guess {one}") == 401
        SignInFailures.objects.update(last_at=now() - timedelta(minutes=1))
    # delayed by a minute or more, however slowly the machine goes on
    SignInFailures.objects.update(count=OF_ACCOUNT.most, last_at=now())
    assert sign_in(stranger, user.email) == 429
    assert sign_in(client, user.email) == 303
    assert client.cookies["tm_browser"].value != cookie.value
    assert sign_in(stranger, user.email) == 429


def test_a_browser_stays_known_when_its_user_changes_the_password(client: Client, project: Project) -> None:
    user = member(project, "viewer").user
    sign_in(client, user.email)
    elsewhere = Client()
    sign_in(elsewhere, user.email)
    new = "another copper kettle"
    client.post("/settings/password/", {"current": PASSWORD, "password": new, "again": new})
    client.post("/sign-out/")
    for one in range(6):
        sign_in(Client(), user.email, f"guess {one}")
    assert sign_in(elsewhere, user.email, new) == 429
    assert sign_in(client, user.email, new) == 303


def test_a_link_signs_in_a_user_who_was_locked_out_by_others(client: Client, db: None) -> None:
    user = person("a@example.org")
    for _ in range(6):
        sign_in(client, "a@example.org", "wrong")
    client.post(path_of(make_sign_in_link(user)))
    assert signed_in_as(client) == "a@example.org"


@pytest.mark.parametrize(
    ("following", "expected"),
    [
        ("/sessions/1/?step=2", "/sessions/1/?step=2"),
        ("", "/"),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("/\\elsewhere.example", "/"),
        ("javascript:alert(1)", "/"),
        ("settings/", "/"),
    ],
)
def test_signing_in_redirects_to_the_requested_page_but_never_to_another_site(
    client: Client, db: None, following: str, expected: str
) -> None:
    person("a@example.org")
    sent = client.post("/sign-in/", {"email": "a@example.org", "password": PASSWORD, "next": following})
    assert sent["Location"] == expected
    assert client.get("/sign-in/", {"next": following})["Location"] == expected


def test_a_protected_page_redirects_to_the_sign_in_page_and_back(client: Client, db: None) -> None:
    assert client.get("/settings/?a=%C3%B6")["Location"] == "/sign-in/?next=%2Fsettings%2F%3Fa%3D%25C3%25B6"
    redirect = client.get(
        "/settings/", headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/x/?y=1"}
    )
    assert redirect["HX-Redirect"] == "/sign-in/?next=%2Fx%2F%3Fy%3D1"
    refused = client.post("/settings/you/", {"name": "x"})
    assert refused.status_code == 401
    assert "Please sign in" in refused.text


def test_an_invited_user_chooses_a_password_and_has_the_role(client: Client, project: Project) -> None:
    secret = invite(project, email="neu@example.org", role="viewer")
    assert client.post(path_of(secret))["Location"] == "/welcome/"
    page = client.get("/welcome/")
    assert 'name="email"' not in page.text
    assert "neu@example.org" in page.text
    refused = client.post("/welcome/", {"name": "Ⅳ", "password": "short", "again": "other"})
    assert refused.status_code == 422
    assert "too short" in refused.text
    assert 'aria-describedby="welcome_password_helptext welcome_password_error"' in refused.text
    assert client.post("/welcome/", {"name": "Ⅳ", "password": PASSWORD, "again": PASSWORD}).status_code == 303
    assert "you are a viewer" in client.get("/settings/").text
    assert sign_in(Client(), "neu@example.org") == 303


def test_choosing_the_first_password_needs_a_recent_sign_in(client: Client, project: Project) -> None:
    user = person("a@example.org", password=None)
    client.post(path_of(make_sign_in_link(user)))
    session = client.session
    session["proved_at"] = (now() - timedelta(hours=1)).timestamp()
    session.save()
    assert client.get("/welcome/")["Location"] == "/sign-in/?next=%2Fwelcome%2F&again=1"
    accepted = client.post(path_of(invite(project, email=user.email, role="viewer")))
    assert (accepted.status_code, accepted["Location"]) == (303, "/")  # which is no sign-in
    assert client.post("/welcome/", WELCOME).status_code == 401
    user.refresh_from_db()
    assert not user.has_usable_password()
    client.post(path_of(make_sign_in_link(user)))
    assert client.post("/welcome/", WELCOME)["Location"] == "/"


def test_a_user_with_an_account_signs_in_to_accept_an_invitation(
    client: Client, project: Project, other_project: Project
) -> None:
    user = member(other_project, "admin", "a@example.org").user
    link = path_of(invite(project, email=user.email, role="operator"))
    page = client.post(link)
    assert page.status_code == 401
    assert "Sign in as a@example.org to accept" in page.text
    assert f'name="next" value="{link}"' in page.text
    assert sign_in(client, user.email, next=link) == 303
    assert client.post(link)["Location"] == "/"
    assert {one.project: one.role for one in queries.memberships_of(user)} == {
        other_project: "admin",
        project: "operator",
    }
    assert f"<bdi>{project.name}</bdi> · you are an operator" in client.get("/settings/").text


def test_a_reset_link_invalidates_the_old_password_and_asks_for_a_new_one(
    client: Client, project: Project
) -> None:
    administrator, forgetful = member(project, "admin"), member(project, "viewer")
    open_elsewhere = Client()
    sign_in(open_elsewhere, forgetful.user.email)
    assert client.post(path_of(make_reset_link(forgetful, by=administrator.user)))["Location"] == "/welcome/"
    assert sign_in(Client(), forgetful.user.email) == 401
    assert open_elsewhere.get("/settings/").status_code == 302
    new = {"name": "V", "password": "another copper kettle", "again": "another copper kettle"}
    client.post("/welcome/", new)
    assert sign_in(Client(), forgetful.user.email, "another copper kettle") == 303
    assert signed_in_as(client) == forgetful.user.email


def test_the_first_administrator_cannot_take_another_users_address(client: Client, db: None) -> None:
    person("zoe@example.org")
    client.post(path_of(make_sign_in_link(first_run())))
    page = client.post("/welcome/", WELCOME)
    assert page.status_code == 422
    assert "Someone else has the e-mail address" in page.text
    page = client.post("/welcome/", {**WELCOME, "email": "other@example.org", "name": "a\x07b"})
    assert page.status_code == 422
    assert "contains a control character" in page.text


def test_signing_out_ends_the_session(client: Client, project: Project) -> None:
    sign_in(client, member(project, "viewer").user.email)
    old = client.cookies["tm_session"].value
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    client.cookies["tm_session"] = old
    assert client.get("/settings/").status_code == 302


def test_a_user_without_a_project_gets_a_page_that_says_what_to_do(client: Client, db: None) -> None:
    client.post(path_of(make_sign_in_link(person("a@example.org"))))
    page = client.get("/settings/")
    assert page.status_code == 403
    assert "Ask an administrator to invite you" in page.text


def test_the_address_in_a_link_is_the_public_one(db: None) -> None:
    assert sign_in_url("x") == "http://127.0.0.1:8000/sign-in/x/"
