"""Authenticator apps: codes of six digits that change every 30 seconds (TOTP, RFC 6238)."""

from typing import Final

import pyotp
from cryptography.fernet import InvalidToken

from timemachine.core.accounts.models import SecondFactor, User
from timemachine.core.encryption import Reencrypted, cipher, reencrypt
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Unavailable

ISSUER: Final = "Time Machine"
_PURPOSE: Final = b"timemachine second factor 1"
_NEIGHBOURS: Final = 1  # a code counts for 30 seconds more on either side, for clocks that differ


def new_secret() -> str:
    """Return a new random secret of 160 bits, in base32."""
    return pyotp.random_base32()


def app_address(secret: str, user: User) -> str:
    """Return the address that an app reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name=ISSUER)


def counter_of(secret: str, code: str, *, after: int = 0) -> int | None:
    """Return the number of the 30 seconds whose code this is; None if it is wrong, or not later than `after`: used before."""
    digits = "".join(code.split())
    try:
        found = pyotp.TOTP(secret).verify_and_get_timecode(
            digits, for_time=now().timestamp(), valid_window=_NEIGHBOURS
        )
    except pyotp.OTPVerificationError:
        return None
    return found if found > after else None


def encrypted(secret: str) -> bytes:
    """Encrypt a secret for storage."""
    return cipher(_PURPOSE).encrypt(secret.encode())


def secret_of(app: SecondFactor) -> str:
    """Return the secret of an app. Raises `Unavailable` if SECRET_KEY has changed."""
    try:
        return cipher(_PURPOSE).decrypt(bytes(app.secret)).decode()
    except InvalidToken as why:
        raise Unavailable(
            "The secret of the authenticator app cannot be decrypted because SECRET_KEY has changed. Use a recovery code, or "
            "put the earlier SECRET_KEY into SECRET_KEY_FALLBACKS.",
            code="second_factor_unreadable",
        ) from why


def reencrypt_secrets() -> Reencrypted:
    """Encrypt the secrets of all apps under the current SECRET_KEY."""
    found = SecondFactor.objects.filter(kind=SecondFactor.APP)
    return reencrypt(found, "secret", purpose=_PURPOSE, noun="authenticator app")
