"""Signing in with an OpenID Connect provider: who gets in, with which account and which roles."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from playwright.sync_api import Browser
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.core.accounts.people import PASSWORD, member, person
from tests.e2e.looking import faults_on
from tests.web.settings.real_provider import BEGIN, ZOE, RealProvider, who
from tests.web.settings.test_second_factor import STEP, code, with_app
from timemachine.core.accounts.commands.links import make_sign_in_link
from timemachine.core.accounts.commands.projects import change_role, invite, make_reset_link
from timemachine.core.accounts.models import ROLES, Project, ProviderIdentity, SignInLink, User
from timemachine.core.accounts.provider.pure.roles import parse_roles
from timemachine.core.audit.models import AuditEvent
from timemachine.core.pure.clock import now

NOWHERE = "01a00000-0000-7000-8000-000000000000"


def roles_in(project: Project) -> dict[str, str]:
    return {one.user.email: one.role for one in project.memberships.select_related("user")}


def test_someone_new_gets_an_account_with_the_role_of_a_group(
    client: Client, project: Project, provider: RealProvider
) -> None:
    page = client.get("/sign-in/?next=/costs/").text
    assert 'href="/sign-in/provider/?next=%2Fcosts%2F"' in page
    assert "Sign in with Bank account" in page
    done = provider.sign_in(client, query="next=/costs/")
    assert (done.status_code, done["Location"]) == (303, "/costs/")
    assert who(client) == "zoe@example.org"
    assert roles_in(project) == {"zoe@example.org": "operator"}
    assert User.objects.get().name == "Zoë"
    assert not User.objects.get().has_usable_password()
    assert client.cookies["tm_browser"].value
    assert "unknown browser" in client.get("/settings/").text


def test_roles_follow_the_groups_at_each_sign_in(
    project: Project, other_project: Project, provider: RealProvider, settings: Settings
) -> None:
    settings.OIDC_ROLES = parse_roles(
        f"risk={project.pk}:operator; audit={project.pk}:admin; risk={other_project.pk}:viewer; risk={NOWHERE}:admin",
        ROLES,
    )
    provider.sign_in(Client())
    assert roles_in(project) == {"zoe@example.org": "operator"}
    assert roles_in(other_project) == {"zoe@example.org": "viewer"}
    provider.put("zoe", ZOE | {"groups": ["audit"]})
    client = Client()
    provider.sign_in(client)
    assert roles_in(project) == {"zoe@example.org": "admin"}
    assert roles_in(other_project) == {}
    assert "set by a group at each sign-in" in client.get("/settings/").text
    provider.put("zoe", {name: value for name, value in ZOE.items() if name != "groups"})
    provider.sign_in(client)
    assert roles_in(project) == {}
    assert client.get("/").status_code == 403
    events = AuditEvent.objects.filter(project=project, actor="sign-in provider").order_by("id")
    assert [(each.action, each.facts) for each in events] == [
        ("member.joined", {"role": "operator"}),
        ("member.role_changed", {"before": "operator", "role": "admin"}),
        ("member.removed", {"role": "admin"}),
    ]


def test_a_reset_link_made_before_a_group_opens_another_project_does_not_work_afterwards(
    project: Project, other_project: Project, provider: RealProvider, settings: Settings
) -> None:
    provider.sign_in(Client())
    reset = make_reset_link(project.memberships.get(), by=member(project, "admin").user)
    settings.OIDC_ROLES = parse_roles(f"risk={project.pk}:operator; risk={other_project.pk}:viewer", ROLES)
    provider.sign_in(Client())
    assert not SignInLink.objects.exists()
    assert Client().post(f"/sign-in/{reset}/").status_code == 404


def test_links_of_a_former_administrator_stop_working(project: Project, provider: RealProvider) -> None:
    provider.put("zoe", ZOE | {"groups": ["audit"]})
    client = Client()
    provider.sign_in(client)
    client.post("/settings/members/", {"email": "new@example.org", "role": "admin"})
    assert project.invitations.count() == 1
    provider.put("zoe", ZOE)
    provider.sign_in(client)
    assert roles_in(project) == {"zoe@example.org": "operator"}
    assert not project.invitations.exists()


def test_setting_a_first_password_needs_a_recent_sign_in(
    client: Client, project: Project, provider: RealProvider
) -> None:
    provider.sign_in(client)
    session = client.session
    session["proved_at"] = (now() - timedelta(hours=1)).timestamp()
    session.save()
    sent = {"password": PASSWORD, "again": PASSWORD}
    assert client.post("/settings/password/", sent).status_code == 401
    provider.sign_in(client, query="again=1")
    assert client.post("/settings/password/", sent).status_code == 303
    assert User.objects.get().check_password(PASSWORD)


def test_the_welcome_page_sets_no_password_for_people_of_the_provider(
    client: Client, project: Project, other_project: Project, provider: RealProvider
) -> None:
    provider.sign_in(client)
    assert client.get("/welcome/")["Location"] == "/"
    sent = {"name": "Zoë", "password": PASSWORD, "again": PASSWORD}
    assert client.post("/welcome/", sent)["Location"] == "/"
    link = invite(other_project, email="zoe@example.org", role="viewer")
    assert client.post(f"/sign-in/{link}/")["Location"] == "/"
    by_link = Client()
    assert by_link.post(f"/sign-in/{make_sign_in_link(User.objects.get())}/")["Location"] == "/"
    assert not User.objects.get().has_usable_password()


def test_a_role_given_by_hand_stays(project: Project, provider: RealProvider) -> None:
    user = member(project, "viewer", "zoe@example.org").user
    provider.sign_in(Client())
    assert roles_in(project) == {user.email: "viewer"}
    provider.put("zoe", ZOE | {"groups": []})
    provider.sign_in(Client())
    assert roles_in(project) == {user.email: "viewer"}


def test_a_role_changed_by_hand_stays(project: Project, provider: RealProvider) -> None:
    provider.sign_in(Client())
    given = project.memberships.get()
    change_role(given, given.role)
    assert project.memberships.get().from_provider
    change_role(given, "viewer")
    provider.sign_in(Client())
    assert roles_in(project) == {"zoe@example.org": "viewer"}
    provider.put("zoe", ZOE | {"groups": []})
    provider.sign_in(Client())
    assert roles_in(project) == {"zoe@example.org": "viewer"}


def test_a_person_is_known_by_the_subject_even_with_another_address(
    project: Project, provider: RealProvider
) -> None:
    provider.sign_in(Client())
    provider.put("zoe", ZOE | {"email": "married@example.org", "email_verified": False})
    client = Client()
    provider.sign_in(client)
    assert who(client) == "zoe@example.org"
    assert ProviderIdentity.objects.count() == 1


def test_the_address_must_be_verified(client: Client, project: Project, provider: RealProvider) -> None:
    person("zoe@example.org")
    for claims in ({"email_verified": False}, {"email_verified": "true"}, {"email": "no address"}):
        provider.put("zoe", ZOE | claims)
        refused = provider.sign_in(client)
        assert refused.status_code == 401
        assert "Bank account did not sign you in" in refused.text
    assert who(client) is None
    assert not ProviderIdentity.objects.exists()


def test_a_provider_that_verifies_silently_can_be_trusted_but_not_one_that_says_no(
    client: Client, project: Project, provider: RealProvider, settings: Settings
) -> None:
    silent = {name: value for name, value in ZOE.items() if name != "email_verified"}
    provider.put("zoe", silent)
    assert provider.sign_in(client).status_code == 401
    settings.OIDC_EMAILS_ARE_VERIFIED = True
    provider.put("zoe", silent | {"email_verified": False})
    assert provider.sign_in(client).status_code == 401
    provider.put("zoe", silent)
    assert provider.sign_in(client).status_code == 303


def test_too_many_groups_take_no_role_away(project: Project, provider: RealProvider) -> None:
    provider.sign_in(Client())
    claims = {name: value for name, value in ZOE.items() if name != "groups"}
    provider.put("zoe", claims | {"_claim_names": {"groups": "src1"}})
    refused = provider.sign_in(Client())
    assert refused.status_code == 401
    assert "you are in more groups than it sends" in refused.text
    assert roles_in(project) == {"zoe@example.org": "operator"}


def test_someone_without_a_mapped_group_gets_no_account_unless_invited(
    client: Client, project: Project, provider: RealProvider
) -> None:
    provider.put("zoe", ZOE | {"groups": "other", "name": "a\x07b"})
    refused = provider.sign_in(client)
    assert refused.status_code == 403
    assert "zoe@example.org has no access here" in refused.text
    assert not User.objects.exists()
    link = f"/sign-in/{invite(project, email='zoe@example.org', role='viewer')}/"
    assert provider.sign_in(client, query=f"next={link}")["Location"] == link
    assert client.post(link).status_code == 303
    assert roles_in(project) == {"zoe@example.org": "viewer"}


def test_one_group_may_be_sent_as_text(client: Client, project: Project, provider: RealProvider) -> None:
    provider.put("zoe", ZOE | {"groups": "audit", "name": "a\x07b"})
    provider.sign_in(client)
    assert roles_in(project) == {"zoe@example.org": "admin"}
    assert User.objects.get().name == ""


def test_an_account_that_is_switched_off_stays_out(
    client: Client, project: Project, provider: RealProvider
) -> None:
    provider.sign_in(client)
    User.objects.update(is_active=False)
    refused = provider.sign_in(Client())
    assert refused.status_code == 401
    assert "switched off" in refused.text


def test_the_second_factor_of_the_account_is_needed_unless_the_provider_asked_for_one(
    project: Project, provider: RealProvider
) -> None:
    client = Client()
    provider.sign_in(client)
    with_app(User.objects.get(email="zoe@example.org"))
    client = Client()
    assert provider.sign_in(client)["Location"] == STEP
    assert who(client) is None
    assert client.post(STEP, {"code": code()}).status_code == 303
    Project.objects.update(needs_second_factor=True)
    provider.put("zoe", ZOE | {"amr": ["pwd", "mfa"]})
    client = Client()
    assert provider.sign_in(client)["Location"] == "/"
    assert client.get("/").status_code == 200


def test_a_first_second_factor_signs_out_other_browsers_even_if_the_provider_asked_for_one(
    project: Project, provider: RealProvider
) -> None:
    elsewhere, client = Client(), Client()
    provider.sign_in(elsewhere)
    provider.put("zoe", ZOE | {"amr": ["mfa"]})
    provider.sign_in(client)
    page = client.get("/settings/second-factor/app/").text
    [secret] = re.findall(r'<code class="mono">([A-Z2-7]{32})</code>', page)
    client.post("/settings/second-factor/app/", {"name": "phone", "code": code(secret)})
    assert client.get("/settings/").status_code == 200
    assert elsewhere.get("/settings/").status_code == 302


def test_changing_the_second_factor_needs_a_recent_password_at_the_provider(
    client: Client, project: Project, provider: RealProvider
) -> None:
    provider.sign_in(client)
    session = client.session
    session["proved_at"] = (now() - timedelta(hours=1)).timestamp()
    session.save()
    again = client.get("/settings/second-factor/")["Location"]
    assert (
        'href="/sign-in/provider/?next=%2Fsettings%2Fsecond-factor%2F&amp;again=1"' in client.get(again).text
    )
    sent = parse_qs(urlsplit(client.get(f"{BEGIN}?again=1")["Location"]).query)
    assert (sent["prompt"], sent["max_age"]) == (["login"], ["3600"])
    provider.sign_in(client, query="again=1")
    assert client.get("/settings/second-factor/").status_code == 200


def test_passwords_can_be_switched_off(
    client: Client, project: Project, provider: RealProvider, settings: Settings
) -> None:
    user, administrator = member(project, "viewer", "zoe@example.org"), member(project, "admin")
    reset = make_reset_link(user, by=administrator.user)
    settings.PASSWORD_SIGN_IN = False
    assert 'type="password"' not in client.get("/sign-in/").text
    refused = client.post("/sign-in/", {"email": user.user.email, "password": PASSWORD})
    assert refused.status_code == 403
    assert client.post(f"/sign-in/{reset}/").status_code == 401
    invited = f"/sign-in/{invite(project, email='new@example.org', role='viewer')}/"
    assert client.post(invited).status_code == 401
    assert who(client) is None
    emergency = Client()
    emergency.post(f"/sign-in/{make_sign_in_link(administrator.user)}/")
    page = emergency.get("/settings/").text
    assert 'type="password"' not in page
    assert "Reset password" not in page
    assert emergency.post("/settings/password/", {"password": PASSWORD, "again": PASSWORD}).status_code == 403
    assert emergency.get("/welcome/")["Location"] == "/"
    provider.sign_in(client)
    assert who(client) == "zoe@example.org"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_person_signs_in_with_the_provider(
    project: Project, provider: RealProvider, chromium: Browser, live_server: LiveServer, settings: Settings
) -> None:
    settings.PUBLIC_URL = live_server.url
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{live_server.url}/settings/")
    assert faults_on(page, "sign-in-provider") == []
    page.get_by_role("link", name="Sign in with Bank account").click()
    page.get_by_role("button", name="Authorize as zoe").click()
    page.get_by_role("heading", name="Settings", level=1).wait_for()
    page.get_by_text("you are an operator").wait_for()
    context.close()


def test_an_account_that_the_provider_opens_first_loses_what_others_may_have_set(
    project: Project, other_project: Project, provider: RealProvider
) -> None:
    taken = member(other_project, "admin", "zoe@example.org").user
    taken.set_password(PASSWORD)
    taken.save()
    with_app(taken)
    link = make_sign_in_link(taken)
    earlier = Client()
    earlier.force_login(taken)
    provider.sign_in(Client())
    taken.refresh_from_db()
    assert not taken.has_usable_password()
    assert not taken.second_factors.exists()
    assert earlier.get("/settings/").status_code == 302
    assert Client().post(f"/sign-in/{link}/").status_code == 404
    assert AuditEvent.objects.filter(action="person.provider_linked", actor="zoe@example.org").exists()
    signed_in = AuditEvent.objects.filter(action="person.signed_in", actor="zoe@example.org")
    assert signed_in.latest("id").facts == {"method": "provider", "second_factor": False}
    lost = AuditEvent.objects.filter(project=other_project, actor="sign-in provider").order_by("id")
    assert [(each.action, each.facts) for each in lost] == [
        ("person.password_changed", {"removed": True}),
        ("person.second_factors_reset", None),
        ("person.browser_signed_out", {"browsers": 1}),
    ]


def test_an_account_with_nothing_to_lose_has_no_such_events(
    project: Project, other_project: Project, provider: RealProvider
) -> None:
    member(other_project, "viewer", "zoe@example.org", password=None)
    provider.sign_in(Client())
    events = AuditEvent.objects.filter(project=other_project).order_by("id")
    assert [each.action for each in events] == ["person.provider_linked", "person.signed_in"]


def test_another_person_with_the_same_address_is_refused(project: Project, provider: RealProvider) -> None:
    provider.sign_in(Client())
    provider.put("zoe-2", ZOE)
    client = Client()
    answer = provider.sign_in(client, "zoe-2")
    assert (answer.status_code, "belongs to someone else" in answer.text) == (403, True)
    assert who(client) is None
    assert ProviderIdentity.objects.get().subject == "zoe"


def test_an_invitation_does_not_open_the_account_of_someone_who_signs_in_with_the_provider(
    project: Project, other_project: Project, provider: RealProvider
) -> None:
    provider.sign_in(Client())
    mallory = member(other_project, "admin", "mallory@example.org").user
    link = invite(other_project, email="zoe@example.org", role="viewer", by=mallory)
    private_window = Client()
    answer = private_window.post(f"/sign-in/{link}/")
    assert (answer.status_code, who(private_window)) == (401, None)
