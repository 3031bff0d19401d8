"""The protocol of an OpenID Connect provider: requests, attempts, and a provider that answers wrongly."""

from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from django.conf import settings as configured
from django.core import signing
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web.settings.hostile_provider import HostileProvider, new_key
from tests.web.settings.real_provider import ANSWER, BEGIN, RealProvider, configure, who
from timemachine.core.accounts.models import BrowserSession, Project, User
from timemachine.core.pure.clock import now


def answered(client: Client, hostile: HostileProvider) -> Any:
    sent = parse_qs(urlsplit(client.get(BEGIN)["Location"]).query)
    hostile.nonce = hostile.nonce or sent["nonce"][0]
    return client.get(ANSWER, {"code": "c", "state": sent["state"][0]})


def test_the_request_has_state_nonce_and_a_pkce_challenge(client: Client, provider: RealProvider) -> None:
    address = urlsplit(client.get(BEGIN)["Location"])
    sent = parse_qs(address.query)
    assert sent["code_challenge_method"] == ["S256"]
    assert len(sent["code_challenge"][0]) == 43
    assert sent["scope"] == ["openid email profile"]
    assert sent["redirect_uri"] == [f"{configured.PUBLIC_URL}{ANSWER}"]
    again = parse_qs(urlsplit(client.get(BEGIN)["Location"]).query)
    for name in ("state", "nonce", "code_challenge"):
        assert again[name] != sent[name]


def test_the_provider_or_the_person_may_refuse(client: Client, provider: RealProvider) -> None:
    begun = client.get(BEGIN)["Location"]
    back = httpx2.post(begun, data={"action": "deny"}, follow_redirects=False).headers["Location"]
    refused = client.get(back.removeprefix(configured.PUBLIC_URL))
    assert refused.status_code == 401
    assert "it answered access_denied" in refused.text


def test_an_answer_counts_once_and_only_in_the_browser_that_began(
    project: Project, provider: RealProvider
) -> None:
    victim, attacker = Client(), Client()
    begun = attacker.get(BEGIN)["Location"]
    back = httpx2.post(begun, data={"sub": "zoe"}, follow_redirects=False).headers["Location"]
    path = back.removeprefix(configured.PUBLIC_URL)
    victim.get(BEGIN)
    for client in (victim, Client()):
        refused = client.get(path)
        assert refused.status_code == 401
        assert "this browser did not ask for it" in refused.text
        assert who(client) is None
    assert attacker.get(f"{path}&iss=https://elsewhere.example").status_code == 401
    assert attacker.get(path).status_code == 401


def test_an_answer_after_half_an_hour_is_too_late(client: Client, hostile: HostileProvider) -> None:
    sent = parse_qs(urlsplit(client.get(BEGIN)["Location"]).query)
    kept = client.cookies["tm_provider"]
    value, _, _ = kept.value.split(":")
    half_an_hour_ago = int((now() - timedelta(minutes=30, seconds=1)).timestamp())
    signer = signing.TimestampSigner(salt="timemachine.provider_attempt")
    signer.timestamp = lambda: signing.b62_encode(half_an_hour_ago)  # type: ignore[method-assign]
    client.cookies["tm_provider"] = signer.sign(value)
    refused = client.get(ANSWER, {"code": "c", "state": sent["state"][0]})
    assert refused.status_code == 401
    assert "took too long" in refused.text


def test_beginning_writes_nothing_into_the_database(client: Client, hostile: HostileProvider) -> None:
    for _ in range(3):
        assert client.get(BEGIN).status_code == 302
    kept = client.cookies["tm_provider"]
    assert (kept["httponly"], kept["samesite"], kept["max-age"]) == (True, "Lax", 1800)
    assert not BrowserSession.objects.exists()


def test_a_forged_attempt_is_refused(client: Client, hostile: HostileProvider) -> None:
    sent = parse_qs(urlsplit(client.get(BEGIN)["Location"]).query)
    client.cookies["tm_provider"] = signing.dumps({"attempt": {"state": sent["state"][0]}}, salt="another")
    assert client.get(ANSWER, {"code": "c", "state": sent["state"][0]}).status_code == 401


@pytest.mark.parametrize("written", ["a\r\nWARNING forged", "A", "", "x" * 41, "<b>"])
def test_only_error_codes_are_repeated(client: Client, hostile: HostileProvider, written: str) -> None:
    sent = parse_qs(urlsplit(client.get(BEGIN)["Location"]).query)
    refused = client.get(ANSWER, {"error": written, "state": sent["state"][0]})
    assert refused.status_code == 401
    assert "it answered an unknown error." in refused.text


def test_a_provider_that_does_not_answer_is_left_alone_for_a_moment(
    client: Client, hostile: HostileProvider
) -> None:
    hostile.change["/.well-known/openid-configuration"] = lambda: (500, {})
    assert [client.get(BEGIN).status_code for _ in range(5)] == [503] * 5
    assert len(hostile.requests) == 1


def test_without_a_provider_there_is_none(client: Client, db: None) -> None:
    assert "provider" not in client.get("/sign-in/").text
    assert client.get(BEGIN).status_code == 404
    assert client.get(ANSWER).status_code == 404


def test_a_right_answer_signs_in_and_proves_the_verifier(client: Client, hostile: HostileProvider) -> None:
    assert answered(client, hostile).status_code == 303
    [body] = [parse_qs(body) for path, body in hostile.requests if path == "/token"]
    assert len(body["code_verifier"][0]) == 43
    assert body["code"] == ["c"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonce": "another"},
        {"aud": "another"},
        {"azp": "another"},
        {"iss": "https://elsewhere.example"},
        {"exp": 1},
        {"iat": 2**33},
        {"sub": None},
    ],
    ids=str,
)
def test_a_token_that_does_not_fit_is_refused(
    client: Client, hostile: HostileProvider, wrong: dict[str, Any]
) -> None:
    hostile.claims = wrong
    refused = answered(client, hostile)
    assert refused.status_code == 401
    assert "Bank account did not sign you in" in refused.text
    assert who(client) is None
    assert not User.objects.exists()


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS256"])
def test_a_forged_token_is_refused(client: Client, hostile: HostileProvider, algorithm: str) -> None:
    hostile.algorithm, hostile.key = algorithm, new_key()
    assert answered(client, hostile).status_code == 401
    assert who(client) is None


def test_a_new_key_of_the_provider_is_read_at_once(hostile: HostileProvider) -> None:
    assert answered(Client(), hostile).status_code == 303
    hostile.key = hostile.announced = new_key()
    hostile.key_id, hostile.nonce = "2", ""
    assert answered(Client(), hostile).status_code == 303
    hostile.key_id, hostile.nonce = "3", ""
    hostile.change["/jwks"] = lambda: (200, {"keys": []})
    assert answered(Client(), hostile).status_code in {401, 503}


@pytest.mark.parametrize(
    ("path", "status", "document", "expected"),
    [
        ("/token", 400, {"error": "invalid_grant"}, 401),
        ("/token", 500, {}, 503),
        ("/token", 200, [], 503),
        ("/token", 200, {}, 401),
        ("/jwks", 500, {}, 503),
        ("/.well-known/openid-configuration", 302, {}, 503),
        ("/.well-known/openid-configuration", 200, {"issuer": "https://elsewhere.example"}, 503),
    ],
)
def test_a_broken_provider_leads_back_to_the_sign_in_page(
    client: Client, hostile: HostileProvider, path: str, status: int, document: Any, expected: int
) -> None:
    hostile.change[path] = lambda: (status, document)
    begun = client.get(BEGIN)
    answer = begun if begun.status_code != 302 else answered(client, hostile)
    assert answer.status_code == expected
    assert "Bank account" in answer.text
    assert who(client) is None


def test_an_address_without_https_is_refused(
    client: Client, project: Project, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    configure(settings, "http://idp.example.org", project)
    refused = client.get(BEGIN)
    assert refused.status_code == 503
    assert "The server's log says why." in unescape(refused.text)
    assert "http://idp.example.org" not in refused.text
    assert "is not an https address" in caplog.text


def test_user_info_about_someone_else_is_refused(client: Client, hostile: HostileProvider) -> None:
    metadata = hostile.answer("/.well-known/openid-configuration")[1]
    more = {**metadata, "userinfo_endpoint": f"{hostile.address}/userinfo"}
    hostile.change["/.well-known/openid-configuration"] = lambda: (200, more)
    hostile.claims = {"email": None, "groups": None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(configured, "OIDC_GROUPS_CLAIM", "roles")
        hostile.change["/userinfo"] = lambda: (200, {"sub": "someone else"})
        assert answered(client, hostile).status_code == 401
        hostile.nonce = ""
        hostile.change["/userinfo"] = lambda: (200, {"sub": "zoe", "roles": ["risk"]})
        hostile.claims = {}
        assert answered(client, hostile).status_code == 303
