"""Passkeys as a second factor."""

import json
from base64 import urlsafe_b64encode

import pytest
from django.test import Client
from playwright.sync_api import Browser, CDPSession, Page
from pytest_django.live_server_helper import LiveServer

from tests.e2e.looking import faults_on
from tests.web.settings.test_second_factor import MANAGE, STEP, first_step, is_signed_in, sign_in_at, with_app
from timemachine.core.accounts.models import Project, User
from timemachine.core.accounts.second_factor.passkeys import Site


@pytest.mark.parametrize(
    ("origin", "can"),
    [
        ("https://tm.example.org", True),
        ("http://localhost:8000", True),
        ("http://tm.example.org", False),
        ("http://127.0.0.1:8000", False),
        ("https://192.0.2.1", False),
        ("https://[::1]:8000", False),
    ],
)
def test_browsers_allow_passkeys_only_at_some_addresses(origin: str, can: bool) -> None:
    assert Site(origin=origin).can_have_passkeys == can


def answer_with(data: bytes) -> str:
    """Return an answer as a browser sends it, with this CBOR where it belongs."""
    client_data = {"type": "webauthn.get", "challenge": "AAAA", "origin": "http://localhost"}
    authenticator = bytes(32) + b"\x80" + bytes(4) + data
    parts = {
        "clientDataJSON": json.dumps(client_data).encode(),
        "authenticatorData": authenticator,
        "attestationObject": data,
        "signature": b"",
    }
    encoded = {name: urlsafe_b64encode(part).rstrip(b"=").decode() for name, part in parts.items()}
    return json.dumps({"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": encoded})


NO_ANSWERS = (
    "{}",
    "[]",
    "no JSON",
    '{"id": "x"}',
    '{"response": 1}',
    "[" * 15_000,
    *map(answer_with, (b"", b"\xa1", b"\x19\x00", b"\x1b", b"\x80", b"\x81" * 3_000, b"\xff")),
)


def test_what_is_no_answer_of_a_passkey_is_refused(user: User) -> None:
    client = Client(SERVER_NAME="localhost")
    first_step(client, user)
    for response in NO_ANSWERS:
        client.get(MANAGE)
        refused = client.post(f"{MANAGE}passkey/", {"name": "laptop", "response": response})
        assert refused.status_code == 422
        assert "was not accepted" in refused.text
    with_app(user)
    other = Client(SERVER_NAME="localhost")
    first_step(other, user)
    for response in NO_ANSWERS:
        other.get(STEP)
        refused = other.post(STEP, {"response": response})
        assert refused.status_code == 401
        assert "The passkey was not accepted." in refused.text
    assert other.post(STEP, {"response": ""}).status_code == 422
    assert not is_signed_in(other)


class Authenticator:
    """A virtual authenticator of Chromium with one page."""

    def __init__(self, page: Page) -> None:
        self.cdp: CDPSession = page.context.new_cdp_session(page)
        self.cdp.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        self.id = self.cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]

    def present(self, *, present: bool) -> None:
        self.cdp.send("WebAuthn.setUserVerified", {"authenticatorId": self.id, "isUserVerified": present})


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_passkey_is_added_and_signs_in_by_keyboard(
    project: Project, user: User, chromium: Browser, live_server: LiveServer
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    Authenticator(page)
    sign_in_at(page, f"{live_server.url}{MANAGE}", user)
    page.wait_for_load_state()  # the script that makes the passkey has run
    page.get_by_label("Name").fill("laptop")
    page.keyboard.press("Enter")
    page.get_by_text("laptop added.").wait_for()
    page.get_by_label("Recovery codes").wait_for()
    assert faults_on(page, "second-factor-codes") == []
    page.get_by_label("Name").fill("again")
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_text("This device already has a passkey here.").wait_for()
    page.get_by_role("link", name="Show the QR code").click()
    page.get_by_role("heading", name="Add an authenticator app").wait_for()
    assert faults_on(page, "second-factor-app") == []
    context.clear_cookies()
    sign_in_at(page, f"{live_server.url}/settings/", user)
    page.get_by_role("heading", name="Second factor").wait_for()
    assert faults_on(page, "second-step") == []
    page.get_by_role("button", name="Use a passkey").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Settings").wait_for()
    factor = user.second_factors.get()
    assert factor.last_used_at
    assert factor.counter
    context.close()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_without_the_passkey_the_page_says_so_and_a_recovery_code_signs_in(
    project: Project, user: User, chromium: Browser, live_server: LiveServer
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    authenticator = Authenticator(page)
    sign_in_at(page, f"{live_server.url}{MANAGE}", user)
    page.get_by_label("Name").fill("laptop")
    page.get_by_role("button", name="Add a passkey").click()
    codes = page.get_by_label("Recovery codes").input_value().split()
    context.clear_cookies()
    authenticator.cdp.send("WebAuthn.clearCredentials", {"authenticatorId": authenticator.id})
    sign_in_at(page, f"{live_server.url}/settings/", user)
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_text("No passkey was used. Try again.").wait_for()
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Settings").wait_for()
    context.close()
