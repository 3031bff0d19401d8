"""The second factor: setting it up, signing in with it, losing it, and projects that need it."""

import re
from datetime import timedelta

import pyotp
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils.html import escape
from playwright.sync_api import Browser, Page
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from tests.api.conftest import program
from tests.core.accounts.people import PASSWORD, member, person
from timemachine.core.accounts.commands.links import make_sign_in_link
from timemachine.core.accounts.commands.projects import invite, make_reset_link
from timemachine.core.accounts.models import (
    Membership,
    Project,
    RecoveryCode,
    SecondFactor,
    SignInFailures,
    User,
)
from timemachine.core.accounts.second_factor.commands import add_app, make_recovery_codes
from timemachine.core.pure.clock import now

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
STEP = "/sign-in/second-factor/"
MANAGE = "/settings/second-factor/"


def code(secret: str = SECRET, later: int = 0) -> str:
    """Return the code that an app shows so many half minutes later."""
    return pyotp.TOTP(secret).at(now(), counter_offset=later)


def with_app(user: User) -> User:
    """Give a person an app whose current code was not used yet."""
    add_app(user, name="phone", secret=SECRET, code=code())
    user.second_factors.update(counter=0)
    return user


def first_step(client: Client, user: User, **more: str) -> str:
    sent = client.post("/sign-in/", {"email": user.email, "password": PASSWORD, **more})
    assert sent.status_code == 303
    return str(sent["Location"])


def signed_in(user: User) -> Client:
    client = Client()
    if first_step(client, user) == STEP:
        assert client.post(STEP, {"code": code()}).status_code == 303
    return client


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def sign_in_at(page: Page, address: str, user: User) -> None:
    page.goto(address)
    page.get_by_label("E-mail").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def test_an_app_is_added_with_its_code_and_recovery_codes_are_shown_once(user: User) -> None:
    client, elsewhere = signed_in(user), signed_in(user)
    page = client.get(f"{MANAGE}app/").text
    [secret] = re.findall(r'<code class="mono">([A-Z2-7]{32})</code>', page)
    assert "<svg" in page
    refused = client.post(f"{MANAGE}app/", {"name": "phone", "code": "000000"})
    assert refused.status_code == 422
    assert secret in refused.text
    sent = client.post(f"{MANAGE}app/", {"name": "phone", "code": code(secret)})
    assert (sent.status_code, sent["Location"]) == (303, MANAGE)
    shown = client.get(MANAGE).text
    codes = re.findall(r"\b\w{4}-\w{4}-\w{4}-\w{4}\b", shown)
    assert len(set(codes)) == 10
    assert not re.findall(r"\b\w{4}-\w{4}-\w{4}-\w{4}\b", client.get(MANAGE).text)
    assert secret not in str(list(SecondFactor.objects.values()))
    assert codes[0] not in str(list(RecoveryCode.objects.values()))
    assert "You need a second factor" in client.get("/settings/").text
    assert elsewhere.get("/settings/").status_code == 302  # it was signed in without a second factor


def test_the_password_alone_does_not_sign_in(user: User) -> None:
    with_app(user)
    client = Client()
    assert first_step(client, user, next="/costs/") == STEP
    assert not is_signed_in(client)
    assert client.get("/settings/").status_code == 302
    assert client.get(MANAGE).status_code == 302
    wrong = client.post(STEP, {"code": "000000"})
    assert wrong.status_code == 401
    assert "Wrong code" in wrong.text
    right = client.post(STEP, {"code": f" {code()[:3]} {code()[3:]} "})
    assert (right.status_code, right["Location"]) == (303, "/costs/")
    assert is_signed_in(client)
    assert client.cookies["tm_browser"].value


@pytest.mark.parametrize("later", [-1, 1])
def test_the_clocks_may_differ_by_half_a_minute(user: User, later: int) -> None:
    with_app(user)
    client = Client()
    first_step(client, user)
    assert client.post(STEP, {"code": code(later=3 * later)}).status_code == 401
    assert client.post(STEP, {"code": code(later=later)}).status_code == 303


def test_a_code_works_once(user: User) -> None:
    with_app(user)
    used = code()
    for expected in (303, 401):
        client = Client()
        first_step(client, user)
        assert client.post(STEP, {"code": used}).status_code == expected


def test_a_recovery_code_works_once_however_it_is_typed(user: User) -> None:
    with_app(user)
    recovery = make_recovery_codes(user)[0]
    for expected in (303, 401):
        client = Client()
        first_step(client, user)
        assert client.post(STEP, {"code": recovery.upper().replace("-", " ")}).status_code == expected
    page = signed_in(user).get(MANAGE).text
    assert "9 recovery codes left." in page


def test_guessing_codes_is_delayed(user: User) -> None:
    with_app(user)
    client = Client()
    first_step(client, user)
    assert [client.post(STEP, {"code": "000000"}).status_code for _ in range(5)] == [401] * 5
    waits = client.post(STEP, {"code": code()})
    assert (waits.status_code, waits["Retry-After"]) == (429, "1")
    SignInFailures.objects.update(last_at=now() - timedelta(seconds=1))
    assert client.post(STEP, {"code": code()}).status_code == 303


def test_the_second_step_needs_a_recent_first_one(user: User) -> None:
    with_app(user)
    assert Client().get(STEP)["Location"] == "/sign-in/"
    client = Client()
    first_step(client, user)
    session = client.session
    session["second_step"] = session["second_step"] | {"at": (now() - timedelta(minutes=10)).timestamp()}
    session.save()
    assert client.post(STEP, {"code": code()})["Location"] == "/sign-in/"
    first_step(client, user)
    user.set_password("another copper kettle")
    user.save()
    assert client.post(STEP, {"code": code()})["Location"] == "/sign-in/"


def test_a_link_needs_the_second_factor_too(project: Project, user: User) -> None:
    with_app(user)
    client = Client()
    assert client.post(f"/sign-in/{make_sign_in_link(user)}/")["Location"] == STEP
    assert not is_signed_in(client)
    client.post(STEP, {"code": code()})
    assert 'name="current"' not in client.get("/settings/").text
    administrator = member(project, "admin").user
    reset = make_reset_link(Membership.objects.get(user=user), by=administrator)
    user.second_factors.update(counter=0)
    other = Client()
    assert other.post(f"/sign-in/{reset}/")["Location"] == STEP
    assert other.post(STEP, {"code": code()})["Location"] == "/welcome/"


def test_someone_signed_in_accepts_an_invitation_without_another_code(
    user: User, other_project: Project
) -> None:
    client = signed_in(with_app(user))
    accepted = client.post(f"/sign-in/{invite(other_project, email=user.email, role='viewer')}/")
    assert accepted["Location"] == "/"
    assert escape(other_project.name) in client.get("/settings/").text


def test_changing_the_second_factor_needs_a_recent_sign_in(user: User) -> None:
    client = signed_in(with_app(user))
    session = client.session
    session["proved_at"] = (now() - timedelta(hours=1)).timestamp()
    session.save()
    again = client.get(MANAGE)["Location"]
    assert again == "/sign-in/?next=%2Fsettings%2Fsecond-factor%2F&again=1"
    page = client.get(again)
    assert page.status_code == 200
    assert "For this change you must have signed in within the last hour. Please sign in again." in page.text
    factor = user.second_factors.get()
    assert client.post(f"{MANAGE}{factor.pk}/remove/").status_code == 401
    assert first_step(client, user, next=MANAGE) == MANAGE
    assert client.get(MANAGE).status_code == 200


def test_a_second_factor_is_removed_with_its_recovery_codes(user: User) -> None:
    client = signed_in(with_app(user))
    make_recovery_codes(user)
    others = with_app(person("b@example.org")).second_factors.get()
    assert client.post(f"{MANAGE}{others.pk}/remove/").status_code == 404
    assert client.post(f"{MANAGE}{user.second_factors.get().pk}/remove/", follow=True).status_code == 200
    assert not user.recovery_codes.exists()
    assert first_step(Client(), user) == "/"


def test_new_recovery_codes_replace_the_old_ones(user: User) -> None:
    client = signed_in(user)
    assert client.post(f"{MANAGE}codes/")["Location"] == MANAGE
    assert not user.recovery_codes.exists()
    with_app(user)
    old = make_recovery_codes(user)[0]
    client = signed_in(user)
    client.post(f"{MANAGE}codes/")
    assert user.recovery_codes.count() == 10
    other = Client()
    first_step(other, user)
    assert other.post(STEP, {"code": old}).status_code == 401


def test_a_person_has_at_most_ten_second_factors(user: User) -> None:
    client = signed_in(user)
    SecondFactor.objects.bulk_create(
        SecondFactor(user=user, kind="app", name=f"{one}", secret=b"") for one in range(10)
    )
    page = client.get(f"{MANAGE}app/").text
    [secret] = re.findall(r'<code class="mono">([A-Z2-7]{32})</code>', page)
    refused = client.post(f"{MANAGE}app/", {"name": "phone", "code": code(secret)})
    assert refused.status_code == 409
    assert "at most 10" in refused.text


def test_a_project_can_require_a_second_factor(project: Project, user: User) -> None:
    administrator = with_app(member(project, "admin").user)
    admin, viewer = signed_in(administrator), signed_in(user)
    page = admin.post("/settings/members/second-factor/", {"switch": "on"}, follow=True).text
    assert "Every member needs a second factor now." in page
    assert viewer.get("/")["Location"] == MANAGE
    swap = viewer.get("/", headers={"HX-Request": "true"})
    assert swap["HX-Redirect"] == MANAGE
    assert viewer.post("/settings/you/", {"name": "x"}).status_code == 403
    assert "can only be opened with a second factor" in viewer.get(MANAGE).text
    assert program(project, "read").get("/project").status_code == 200
    page = viewer.get(f"{MANAGE}app/").text
    [secret] = re.findall(r'<code class="mono">([A-Z2-7]{32})</code>', page)
    viewer.post(f"{MANAGE}app/", {"name": "phone", "code": code(secret)})
    assert viewer.get("/settings/").status_code == 200
    admin.post("/settings/members/second-factor/", {"switch": "off"})
    assert signed_in(member(project, "viewer", "c@example.org").user).get("/").status_code == 200


def test_other_projects_can_be_opened_without_one(
    project: Project, other_project: Project, user: User
) -> None:
    other_project.memberships.create(user=user, role="viewer")
    Project.objects.filter(pk=project.pk).update(needs_second_factor=True)
    client = signed_in(user)
    page = client.get("/", follow=True).text
    assert f'<option value="{other_project.pk}">' in page
    client.post("/project/", {"project": str(other_project.pk)})
    assert client.get("/settings/").status_code == 200


def test_an_administrator_removes_the_second_factor_of_a_member_who_lost_it(
    project: Project, other_project: Project, user: User
) -> None:
    theirs = signed_in(with_app(user))
    make_recovery_codes(user)
    admin = signed_in(member(project, "admin").user)
    path = f"/settings/members/{Membership.objects.get(user=user).pk}/second-factor/remove/"
    assert path in admin.get("/settings/").text
    elsewhere = other_project.memberships.create(user=user, role="viewer")
    refused = admin.post(path)
    assert refused.status_code == 403
    assert "timemachine manage remove_second_factor --email a@example.org" in refused.text
    elsewhere.delete()
    assert admin.post(path).status_code == 303
    assert path not in admin.get("/settings/").text
    assert theirs.get("/settings/").status_code == 302
    assert not user.recovery_codes.exists()
    assert first_step(Client(), user) == "/"


def test_the_operator_removes_a_second_factor(user: User, capsys: pytest.CaptureFixture[str]) -> None:
    with_app(user)
    call_command("remove_second_factor", email="A@example.org")
    assert capsys.readouterr().out == "1 second factor of a@example.org removed.\n"
    assert first_step(Client(), user) == "/"
    with pytest.raises(CommandError, match="No member has"):
        call_command("remove_second_factor", email="x@example.org")


def test_a_changed_secret_key_leaves_the_recovery_codes(user: User, settings: Settings) -> None:
    with_app(user)
    recovery = make_recovery_codes(user)[0]
    settings.SECRET_KEY = "another"
    client = Client()
    first_step(client, user)
    refused = client.post(STEP, {"code": code()})
    assert refused.status_code == 503
    assert "Use a recovery code" in refused.text
    assert client.post(STEP, {"code": recovery}).status_code == 303


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_an_app_is_added_without_javascript(
    project: Project, user: User, chromium: Browser, live_server: LiveServer
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in_at(page, f"{live_server.url}{MANAGE}", user)
    page.get_by_text("A passkey needs JavaScript.").wait_for()
    page.get_by_role("link", name="Show the QR code").click()
    secret = page.locator("code").inner_text()
    page.get_by_label("Name").fill("phone")
    page.get_by_label("Code", exact=True).fill(code(secret))
    page.get_by_role("button", name="Add app").click()
    page.get_by_text("phone added.").wait_for()
    context.close()
