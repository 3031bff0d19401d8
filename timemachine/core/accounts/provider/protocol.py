"""OpenID Connect: the authorization code flow with PKCE (S256), state and nonce.

Discovery, signatures and claims are checked as OpenID Connect Core 1.0, section 3.1.3.7, requires.
"""

import base64
import hashlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx2
import jwt
from django.conf import settings

from timemachine.core.pure.errors import NotSignedIn, Unavailable
from timemachine.core.pure.ids import secret

type Claims = Mapping[str, Any]

_WELL_KNOWN: Final = "/.well-known/openid-configuration"
_ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_TIMEOUT: Final = 5.0
_RETRY_SECONDS: Final = 5.0
_KEPT_SECONDS: Final = 3600.0
_LEEWAY: Final = 60
_MOST_BYTES: Final = 1_000_000
_AGAIN_WITHIN: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """What the provider's discovery document says, and its keys."""

    metadata: Mapping[str, Any]
    keys: jwt.PyJWKSet
    read_at: float

    @property
    def issuer(self) -> str:
        return str(self.metadata["issuer"])

    def key_for(self, token: str) -> jwt.PyJWK | None:
        """Return the key that signed this token; None if the provider had no such key when it was read."""
        key_id = jwt.get_unverified_header(token).get("kid")
        usable = [one for one in self.keys.keys if one.public_key_use in {None, "sig"}]
        if key_id is None:
            return usable[0] if len(usable) == 1 else None
        return next((one for one in usable if one.key_id == key_id), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What the server remembers of a sign-in until the provider sends the browser back."""

    state: str
    nonce: str
    verifier: str


_reading = threading.Lock()
_known: dict[str, Provider] = {}
_failed: dict[str, float] = {}


def is_configured() -> bool:
    """Return whether people can sign in with a provider."""
    return bool(settings.OIDC_DISCOVERY_URL)


def new_attempt() -> Attempt:
    """Return a new attempt with secrets of its own."""
    return Attempt(state=secret(), nonce=secret(), verifier=secret())


def authorization_url(attempt: Attempt, *, redirect_uri: str, again: bool) -> str:
    """Return where the person signs in; with `again`, also if the provider remembers them. Raises `Unavailable`."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest()).rstrip(b"=")
    parameters = {
        "response_type": "code",
        "client_id": settings.OIDC_CLIENT_ID,
        "redirect_uri": redirect_uri,
        "scope": settings.OIDC_SCOPES,
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": challenge.decode(),
        "code_challenge_method": "S256",
    }
    if again:
        parameters |= {"prompt": "login", "max_age": str(_AGAIN_WITHIN)}
    endpoint = str(provider().metadata["authorization_endpoint"])
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"


def claims_of(code: str, attempt: Attempt, *, redirect_uri: str) -> Claims:
    """Exchange the code and return the verified claims, with those of the user info endpoint if the token has too few.

    Raises `NotSignedIn` if anything does not fit, and `Unavailable` if the provider does not answer.
    """
    found = provider()
    answer = _token(found, code, attempt, redirect_uri)
    claims = _verified(str(answer.get("id_token", "")), attempt.nonce)
    endpoint = found.metadata.get("userinfo_endpoint")
    if endpoint and not {"email", settings.OIDC_GROUPS_CLAIM} <= claims.keys():
        more = _get(str(endpoint), bearer=str(answer.get("access_token", "")))
        if more.get("sub") != claims["sub"]:
            raise refused("the user info is about someone else")
        claims = {**more, **claims}
    return claims


def provider(*, newer_than: float = 0.0) -> Provider:
    """Return the provider, whose documents are read once an hour. Raises `Unavailable`."""
    address = _discovery_address()
    known = _known.get(address)
    if known and known.read_at > max(newer_than, time.monotonic() - _KEPT_SECONDS):
        return known
    # a provider that does not answer must not occupy all threads
    if not _reading.acquire(timeout=_TIMEOUT):
        raise _unavailable(f"{address} is still being read")
    try:
        known = _known.get(address)
        if known is None or known.read_at <= max(newer_than, time.monotonic() - _KEPT_SECONDS):
            _known[address] = known = _read(address)
        return known
    finally:
        _reading.release()


def _read(address: str) -> Provider:
    if _failed.get(address, -_RETRY_SECONDS) > time.monotonic() - _RETRY_SECONDS:
        raise _unavailable(f"{address} did not answer a moment ago")
    try:
        metadata = _get(address)
        if f"{str(metadata.get('issuer', '')).rstrip('/')}{_WELL_KNOWN}" != address:
            raise _unavailable(f"its issuer {metadata.get('issuer')!r} does not belong to {address}")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            _check_address(str(metadata.get(name, "")))
        keys = jwt.PyJWKSet.from_dict(dict(_get(str(metadata["jwks_uri"]))))
    except Unavailable:
        _failed[address] = time.monotonic()
        raise
    except jwt.PyJWTError as why:
        _failed[address] = time.monotonic()
        raise _unavailable(f"its keys cannot be read: {why}") from why
    return Provider(metadata=metadata, keys=keys, read_at=time.monotonic())


def refused(why: str) -> NotSignedIn:
    """Return the error for an answer of the provider that does not fit; the reason is for the log and the page."""
    return NotSignedIn(
        f"{settings.OIDC_NAME} did not sign you in: {why}. Try again.", code="provider_refused", reason=why
    )


def _token(found: Provider, code: str, attempt: Attempt, redirect_uri: str) -> Mapping[str, Any]:
    sent = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": attempt.verifier,
    }
    headers = {}
    methods = found.metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    if not settings.OIDC_CLIENT_SECRET:
        sent["client_id"] = settings.OIDC_CLIENT_ID
    elif "client_secret_basic" in methods:
        pair = f"{quote_plus(settings.OIDC_CLIENT_ID)}:{quote_plus(settings.OIDC_CLIENT_SECRET)}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        sent |= {"client_id": settings.OIDC_CLIENT_ID, "client_secret": settings.OIDC_CLIENT_SECRET}
    return _sent("POST", str(found.metadata["token_endpoint"]), data=sent, headers=headers)


def _verified(token: str, nonce: str) -> Claims:
    try:
        found = provider()
        key = found.key_for(token) or provider(newer_than=found.read_at).key_for(token)
        if key is None:
            raise refused("its token is signed with an unknown key")
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[name for name in _ALGORITHMS if name == key.algorithm_name],
            audience=settings.OIDC_CLIENT_ID,
            issuer=found.issuer,
            leeway=_LEEWAY,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except jwt.PyJWTError as why:
        raise refused(f"its token is not valid ({why})") from why
    if claims.get("nonce") != nonce:
        raise refused("its token belongs to another attempt")
    if claims.get("azp", settings.OIDC_CLIENT_ID) != settings.OIDC_CLIENT_ID:
        raise refused("its token is for another application")
    return claims


def _get(address: str, *, bearer: str = "") -> Mapping[str, Any]:
    return _sent("GET", address, headers={"Authorization": f"Bearer {bearer}"} if bearer else {})


def _sent(method: str, address: str, **more: Any) -> Mapping[str, Any]:
    _check_address(address)
    try:
        with httpx2.Client(timeout=_TIMEOUT, follow_redirects=False) as client:
            answer = client.request(method, address, **more)
            document = answer.json() if len(answer.content) <= _MOST_BYTES else None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as why:
        raise _unavailable(f"{address} does not answer ({why})") from why
    if answer.is_client_error and method == "POST" and isinstance(document, dict):
        raise refused(f"it answered {document.get('error', answer.status_code)}")
    if not answer.is_success or not isinstance(document, dict):
        raise _unavailable(f"{address} answered {answer.status_code}")
    return document


def _discovery_address() -> str:
    address: str = settings.OIDC_DISCOVERY_URL.rstrip("/")
    return address if address.endswith(_WELL_KNOWN) else f"{address}{_WELL_KNOWN}"


def _check_address(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise _unavailable(f"{address or 'an address'} is not an https address")


def _unavailable(why: str) -> Unavailable:
    return Unavailable(
        f"{settings.OIDC_NAME} is not available. Try again in a moment. The server's log says why.",
        code="provider_unavailable",
        reason=why,
    )
