"""Encrypts the API keys that a project stores here. The database alone is not enough to use them.

Fernet (AES-128-CBC with HMAC-SHA-256) under a key derived from SECRET_KEY by HKDF-SHA-256. What was encrypted under an
earlier SECRET_KEY can be read while that is in SECRET_KEY_FALLBACKS.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from timemachine.core.pure.errors import Unavailable

_PURPOSE = b"timemachine model server key 1"


def encrypted(api_key: str) -> bytes:
    """Encrypt a key for storage."""
    return cipher().encrypt(api_key.encode())


def decrypted(stored: bytes, *, of: str, fix: str) -> str:
    """Decrypt a stored key. `of` names its owner in the error, `fix` says what to do.

    Raises `Unavailable` (`key_unreadable`) if SECRET_KEY has changed.
    """
    try:
        return cipher().decrypt(stored).decode()
    except InvalidToken as why:
        raise Unavailable(
            f"The API key of {of} cannot be decrypted because SECRET_KEY has changed. {fix}",
            code="key_unreadable",
            of=of,
        ) from why


def is_readable(stored: bytes) -> bool:
    """Return whether the stored key can be decrypted with the current SECRET_KEY or a fallback."""
    try:
        cipher().decrypt(stored)
    except InvalidToken:
        return False
    return True


def cipher(purpose: bytes = _PURPOSE) -> MultiFernet:
    """Return the cipher for one purpose, which has its own key."""
    keys: list[Fernet] = []
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose)
        derived = derivation.derive(secret.encode() if isinstance(secret, str) else secret)
        keys.append(Fernet(base64.urlsafe_b64encode(derived)))
    return MultiFernet(keys)
