"""Passkeys and security keys (WebAuthn)."""

import ipaddress
import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestationConveyancePreference,
    AttestedCredentialData,
    AuthenticationResponse,
    AuthenticatorData,
    PublicKeyCredentialRpEntity,
    PublicKeyCredentialUserEntity,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from timemachine.core.accounts.models import SecondFactor, User
from timemachine.core.pure.errors import InvalidInput, NotSignedIn

type State = Mapping[str, Any]
"""What the server remembers between handing out a challenge and receiving the answer."""

_FOR: Final = "Time Machine"
_MALFORMED: Final = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,  # CBOR that ends too early
    struct.error,  # within a number
    RecursionError,  # deeply nested JSON or CBOR
    NotImplementedError,  # a key of an unknown kind
)
"""What `fido2` and `json` raise for an answer that a browser never sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The passkey that signed the challenge, and its signature counter."""

    factor: SecondFactor
    counter: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The origin of a page, for which its passkeys work: `https://example.org`."""

    origin: str

    @property
    def host(self) -> str:
        return urlsplit(self.origin).hostname or ""

    @property
    def can_have_passkeys(self) -> bool:
        """Return whether browsers allow passkeys here: under a host name, with https unless it is this machine."""
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            return self.origin.startswith("https://") or self.host == "localhost"
        return False

    def server(self) -> Fido2Server:
        """Return the server side of WebAuthn for this site."""
        site = PublicKeyCredentialRpEntity(name=_FOR, id=self.host)
        return Fido2Server(
            site, AttestationConveyancePreference.NONE, verify_origin=lambda origin: origin == self.origin
        )


def begin_registration(site: Site, user: User, existing: Iterable[SecondFactor]) -> tuple[str, State]:
    """Return the options for the browser, as JSON, and what to remember. Passkeys that exist are not registered again."""
    who = PublicKeyCredentialUserEntity(
        id=f"user {user.pk}".encode(), name=user.email, display_name=str(user)
    )
    options, state = site.server().register_begin(
        who,
        [_credential(one) for one in existing],
        resident_key_requirement=ResidentKeyRequirement.PREFERRED,
        user_verification=UserVerificationRequirement.PREFERRED,
    )
    return json.dumps(dict(options.public_key)), state


def registered(site: Site, state: State, response: str) -> AuthenticatorData:
    """Return the new passkey that the browser made. Raises `InvalidInput` if the answer does not fit the challenge."""
    try:
        return site.server().register_complete(dict(state), json.loads(response))
    except _MALFORMED as why:
        raise InvalidInput("The passkey was not accepted. Try again.", code="passkey_not_valid") from why


def begin_use(site: Site, passkeys: Iterable[SecondFactor]) -> tuple[str, State]:
    """Return the options for the browser, as JSON, and what to remember."""
    options, state = site.server().authenticate_begin(
        [_credential(one) for one in passkeys], user_verification=UserVerificationRequirement.PREFERRED
    )
    return json.dumps(dict(options.public_key)), state


def used(site: Site, state: State, passkeys: Iterable[SecondFactor], response: str) -> Answer:
    """Return the passkey that signed the challenge. Raises `NotSignedIn` if none did, or if it seems to be a copy."""
    by_id = {bytes(one.credential_id or b""): one for one in passkeys}
    try:
        answer = AuthenticationResponse.from_dict(json.loads(response))
        credentials = [_credential(one) for one in by_id.values()]
        found = site.server().authenticate_complete(dict(state), credentials, answer)
    except _MALFORMED as why:
        raise _not_accepted() from why
    factor, counter = by_id[found.credential_id], answer.response.authenticator_data.counter
    if (counter or factor.counter) and counter <= factor.counter:
        raise _not_accepted()
    return Answer(factor=factor, counter=counter)


def _credential(passkey: SecondFactor) -> AttestedCredentialData:
    return AttestedCredentialData(bytes(passkey.secret))


def _not_accepted() -> NotSignedIn:
    return NotSignedIn("The passkey was not accepted. Try again, or use a code.", code="wrong_second_factor")
