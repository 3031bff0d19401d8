"""Settings: one's own account, the project, its members and keys."""

import html
import re
from datetime import timedelta

import pytest
from django.test import Client

from tests.core.accounts.people import PASSWORD, member
from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.keys import authenticate_key, make_api_key, revoke_api_key
from timemachine.core.accounts.commands.links import make_sign_in_link, use_sign_in_link
from timemachine.core.accounts.commands.projects import invite
from timemachine.core.accounts.models import ApiKey, Membership, Project, SignInLink, User
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import NotFound, NotSignedIn

NEW = "another copper kettle"


@pytest.fixture
def admin(project: Project) -> Membership:
    """The administrator of the project."""
    return member(project, "admin")


def browser(membership: Membership) -> Client:
    """Return a browser in which this member is signed in."""
    client = Client()
    client.force_login(membership.user)
    return client


def shown_once(client: Client) -> str:
    """Return the secret that the page shows once after a form."""
    page = client.get("/settings/")
    assert "no-store" in page["Cache-Control"]
    found = re.search(r'id="shown_once"[^>]*value="([^"]+)"', page.text)
    assert found
    assert found[1] not in client.get("/settings/").text
    return html.unescape(found[1])


def secret_in(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2]


def test_an_administrator_invites_a_member_and_sees_the_link_once(
    project: Project, admin: Membership
) -> None:
    client = browser(admin)
    sent = client.post("/settings/members/", {"email": "Neu@example.org", "role": "operator"})
    assert (sent.status_code, sent["Location"]) == (303, "/settings/#members")
    secret = secret_in(shown_once(client))
    assert secret not in str(list(SignInLink.objects.values()))
    assert "invited as operator" in client.get("/settings/").text
    assert Client().post(f"/sign-in/{secret}/")["Location"] == "/welcome/"
    assert "invited as operator" not in client.get("/settings/").text
    assert [one.role for one in queries.memberships_of(queries.person("neu@example.org"))] == ["operator"]


def test_an_invalid_invitation_is_refused_at_the_address_field(project: Project, admin: Membership) -> None:
    client = browser(admin)
    duplicate = client.post("/settings/members/", {"email": admin.user.email, "role": "viewer"})
    assert duplicate.status_code == 409
    assert "is already a member of this project" in duplicate.text
    assert 'aria-describedby="invite_email_error"' in duplicate.text
    assert client.post("/settings/members/", {"email": "x", "role": "owner"}).status_code == 422


def test_an_administrator_withdraws_an_invitation(project: Project, admin: Membership) -> None:
    secret = invite(project, email="neu@example.org", role="viewer")
    waiting = queries.invitations_of(project).get()
    assert browser(admin).post(f"/settings/invitations/{waiting.pk}/withdraw/").status_code == 303
    with pytest.raises(NotFound):
        use_sign_in_link(secret)


def test_a_changed_role_applies_from_the_next_request(project: Project, admin: Membership) -> None:
    viewer = member(project, "viewer")
    theirs = browser(viewer)
    assert theirs.post("/settings/members/", {"email": "x@example.org", "role": "viewer"}).status_code == 403
    changed = browser(admin).post(f"/settings/members/{viewer.pk}/role/", {"role": "admin"}, follow=True)
    assert "viewer@example.org is now an administrator." in changed.text
    assert theirs.post("/settings/members/", {"email": "x@example.org", "role": "viewer"}).status_code == 303


def test_the_last_administrator_can_be_neither_demoted_nor_removed(
    project: Project, admin: Membership
) -> None:
    client = browser(admin)
    for path, sent in (
        (f"/settings/members/{admin.pk}/role/", {"role": "viewer"}),
        (f"/settings/members/{admin.pk}/remove/", {}),
    ):
        refused = client.post(path, sent)
        assert refused.status_code == 409
        assert "is the last administrator of this project" in refused.text
    admin.refresh_from_db()
    assert admin.role == "admin"
    assert client.post(f"/settings/members/{admin.pk}/role/", {"role": "owner"}).status_code == 422


def test_a_removed_member_loses_access_immediately_and_their_keys_are_counted(
    project: Project, admin: Membership
) -> None:
    other = member(project, "admin", "other@example.org")
    make_api_key(project, name="agent", scopes=["read"], by=other.user)
    theirs = browser(other)
    assert theirs.get("/settings/").status_code == 200
    page = browser(admin).post(f"/settings/members/{other.pk}/remove/", follow=True)
    assert "Active API keys created by other@example.org: 1." in page.text
    assert theirs.get("/settings/").status_code == 403


def test_removing_a_member_without_keys_does_not_mention_keys(project: Project, admin: Membership) -> None:
    viewer = member(project, "viewer")
    page = browser(admin).post(f"/settings/members/{viewer.pk}/remove/", follow=True)
    assert "viewer@example.org is no longer a member of Prüfung." in page.text
    assert "still work" not in page.text


def test_an_administrator_creates_a_link_for_a_new_password(project: Project, admin: Membership) -> None:
    viewer = member(project, "viewer")
    client = browser(admin)
    client.post(f"/settings/members/{viewer.pk}/reset/")
    assert Client().post(f"/sign-in/{secret_in(shown_once(client))}/")["Location"] == "/welcome/"


def test_the_password_of_a_member_of_two_projects_cannot_be_reset_by_one(
    project: Project, other_project: Project, admin: Membership
) -> None:
    viewer = member(project, "viewer")
    other_project.memberships.create(user=viewer.user, role="viewer")
    refused = browser(admin).post(f"/settings/members/{viewer.pk}/reset/")
    assert refused.status_code == 403
    assert "timemachine manage sign_in_link --email viewer@example.org" in refused.text


def test_an_administrator_creates_a_key_and_sees_it_once(project: Project, admin: Membership) -> None:
    client = browser(admin)
    sent = client.post("/settings/keys/", {"name": "агент 7", "scopes": ["read", "run"], "expires": "30"})
    assert sent["Location"] == "/settings/#keys"
    key = authenticate_key(shown_once(client))
    assert (key.project, key.name, key.scopes, key.created_by) == (
        project,
        "агент 7",
        ["read", "run"],
        admin.user,
    )
    assert key.expires_at is not None
    assert round((key.expires_at - key.created_at).total_seconds() / 3600) == 30 * 24
    page = client.get("/settings/").text
    assert f"tmk_{key.pk}_…" in page
    assert "агент 7" in page


def test_a_key_may_be_created_without_expiry(project: Project, admin: Membership) -> None:
    client = browser(admin)
    client.post("/settings/keys/", {"name": "agent", "scopes": ["record"], "expires": "never"})
    assert authenticate_key(shown_once(client)).expires_at is None


def test_a_key_expires_after_90_days_unless_chosen_otherwise(project: Project, admin: Membership) -> None:
    client = browser(admin)
    assert '<option value="90" selected>' in client.get("/settings/").text
    refused = client.post("/settings/keys/", {"name": "agent", "scopes": ["record"], "expires": ""})
    assert refused.status_code == 422


def test_keys_that_expire_soon_are_marked(project: Project, admin: Membership) -> None:
    client = browser(admin)
    make_api_key(project, name="later", scopes=["read"], expires_at=now() + timedelta(days=15))
    revoke_api_key(make_api_key(project, name="no", scopes=["read"], expires_at=now() + timedelta(days=1))[0])
    assert "within 14 days" not in client.get("/settings/").text
    make_api_key(project, name="soon", scopes=["read"], expires_at=now() + timedelta(days=13))
    assert "1 key expires within 14 days" in " ".join(client.get("/settings/").text.split())


def test_the_lifetime_of_new_keys_can_be_limited(project: Project, admin: Membership) -> None:
    client = browser(admin)
    _, old = make_api_key(project, name="old", scopes=["read"], never_expires=True)
    page = client.post("/settings/keys/lifetime/", {"days": "45"}, follow=True).text
    assert "New keys expire after at most 45 days." in page
    for shown in ('value="45" selected>in 45 days', 'value="7">in 7 days', 'value="30">in 30 days'):
        assert shown in page
    for left_out in ('value="90"', 'value="never"'):
        assert left_out not in page
    made = {"name": "agent", "scopes": ["read"]}
    assert client.post("/settings/keys/", made | {"expires": "never"}).status_code == 422
    assert client.post("/settings/keys/", made | {"expires": "45"}).status_code == 303
    assert authenticate_key(old).expires_at is None
    assert client.post("/settings/keys/lifetime/", {"days": "0"}).status_code == 422
    page = client.post("/settings/keys/lifetime/", {"days": ""}, follow=True).text
    assert "New keys can have any lifetime." in page
    assert 'value="never"' in page


def test_an_invalid_key_is_refused_at_its_form(project: Project, admin: Membership) -> None:
    client = browser(admin)
    for sent in (
        {"name": "agent", "expires": "30"},
        {"name": "agent", "scopes": ["everything"], "expires": "30"},
        {"name": "a\x07b", "scopes": ["read"], "expires": "30"},
        {"name": "agent", "scopes": ["read"], "expires": "31"},
    ):
        page = client.post("/settings/keys/", sent)
        assert page.status_code == 422, sent
        assert 'class="error"' in page.text
    assert not ApiKey.objects.exists()


def test_a_revoked_key_does_not_work_and_stays_in_the_list(project: Project, admin: Membership) -> None:
    key, text = make_api_key(project, name="agent", scopes=["read"])
    page = browser(admin).post(f"/settings/keys/{key.pk}/revoke/", follow=True)
    assert "Key agent revoked." in page.text
    assert "revoked" in page.text
    with pytest.raises(NotSignedIn):
        authenticate_key(text)


def test_a_secret_shown_to_one_user_is_not_shown_to_another_in_the_same_browser(
    project: Project, admin: Membership
) -> None:
    client = browser(admin)
    client.post("/settings/keys/", {"name": "agent", "scopes": ["read"], "expires": "90"})
    client.force_login(member(project, "admin", "other@example.org").user)
    assert "shown_once" not in client.get("/settings/").text
    client.cookies["tm_once"] = "forged"
    assert "shown_once" not in client.get("/settings/").text


def test_members_and_keys_are_shown_to_administrators_only(project: Project, admin: Membership) -> None:
    make_api_key(project, name="secret agent", scopes=["read"])
    shown = {
        each.role: browser(each).get("/settings/").text
        for each in (admin, member(project, "viewer"), member(project, "operator"))
    }
    for hidden in (admin.user.email, "secret agent", "/settings/members/", "/settings/keys/"):
        assert [role for role, page in shown.items() if hidden in page] == ["admin"]


def test_users_can_change_their_name(project: Project) -> None:
    viewer = member(project, "viewer")
    client = browser(viewer)
    assert client.post("/settings/you/", {"name": " Ренé 李 "})["Location"] == "/settings/#you"
    assert 'value="Ренé 李"' in client.get("/settings/").text
    refused = client.post("/settings/you/", {"name": "  "})
    assert refused.status_code == 422
    assert 'aria-describedby="you_name_error"' in refused.text
    assert User.objects.get(pk=viewer.user.pk).name == "Ренé 李"


def test_a_users_name_is_escaped(project: Project, admin: Membership) -> None:
    viewer = member(project, "viewer")
    browser(viewer).post("/settings/you/", {"name": "<script>alert(1)</script>"})
    page = browser(admin).get("/settings/").text
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_changed_password_signs_every_other_browser_out(project: Project) -> None:
    viewer = member(project, "viewer")
    here, elsewhere = browser(viewer), browser(viewer)
    sent = {"current": PASSWORD, "password": NEW, "again": NEW}
    assert here.post("/settings/password/", sent)["Location"] == "/settings/#you"
    assert here.get("/settings/").status_code == 200
    assert elsewhere.get("/settings/").status_code == 302


@pytest.mark.parametrize(
    ("changed", "status", "words"),
    [
        ({"current": "wrong"}, 401, "The current password is wrong."),
        ({"again": "something else"}, 422, "The passwords do not match."),
        ({"password": "short", "again": "short"}, 422, "too short"),
        ({"current": ""}, 422, "This field is required."),
    ],
)
def test_a_refused_password_change_says_why(
    project: Project, changed: dict[str, str], status: int, words: str
) -> None:
    viewer = member(project, "viewer")
    page = browser(viewer).post(
        "/settings/password/", {"current": PASSWORD, "password": NEW, "again": NEW} | changed
    )
    assert page.status_code == status
    assert words in page.text
    assert User.objects.get(pk=viewer.user.pk).check_password(PASSWORD)


def test_guessing_the_current_password_is_throttled(project: Project) -> None:
    client = browser(member(project, "viewer"))
    sent = {"current": "wrong", "password": NEW, "again": NEW}
    assert [client.post("/settings/password/", sent).status_code for _ in range(6)] == [401] * 5 + [429]


def test_a_user_who_just_signed_in_by_link_needs_no_old_password(project: Project) -> None:
    viewer = member(project, "viewer")
    client = Client()
    client.post(f"/sign-in/{make_sign_in_link(viewer.user)}/")
    assert 'name="current"' not in client.get("/settings/").text
    assert client.post("/settings/password/", {"password": NEW, "again": NEW}).status_code == 303
    assert client.post("/settings/password/", {"password": PASSWORD, "again": PASSWORD}).status_code == 422
    session = client.session
    session["link_used_at"] = session.get("link_used_at", 0.0)
    session.save()
    assert 'name="current"' in client.get("/settings/").text


def test_an_administrator_renames_the_project_and_creates_another(
    project: Project, admin: Membership
) -> None:
    client = browser(admin)
    client.post("/settings/project/", {"name": "Ünïcode"})
    assert "<bdi>Ünïcode</bdi>" in client.get("/settings/").text
    assert client.post("/settings/project/", {"name": ""}).status_code == 422
    page = client.post("/settings/projects/", {"name": "Zweites"}, follow=True)
    assert "You are now in Zweites." in page.text
    assert "<bdi>Zweites</bdi> · you are an administrator" in page.text
    assert f'<option value="{project.pk}">Ünïcode</option>' in page.text
    assert client.post("/settings/projects/", {"name": "a\x07"}).status_code == 422


def test_the_theme_is_kept_in_the_browser_signed_in_or_not(client: Client, db: None) -> None:
    assert "data-theme" not in client.get("/sign-in/").text
    sent = client.post(
        "/appearance/", {"theme": "dark"}, headers={"Referer": "http://testserver/sign-in/?next=/x"}
    )
    assert (sent.status_code, sent["Location"]) == (303, "/sign-in/?next=/x")
    assert 'data-theme="dark"' in client.get("/sign-in/").text
    assert client.post("/appearance/", {"theme": "purple"}).status_code == 422
    elsewhere = client.post("/appearance/", {"theme": "auto"}, headers={"Referer": "https://other.example/"})
    assert elsewhere["Location"] == "/"
    assert "data-theme" not in client.get("/sign-in/").text


def test_browsers_members_and_keys_are_cards_on_a_narrow_screen(project: Project, admin: Membership) -> None:
    make_api_key(project, name="ci", scopes=["read"], by=admin.user)
    shown = browser(admin).get("/settings/").text
    assert shown.count('<table class="table stacked">') == 3
    assert all(
        f'data-label="{label}"' in shown for label in ("Role", "Since", "Scopes", "Last used", "Expires")
    )
