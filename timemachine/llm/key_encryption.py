"""API keys that a project keeps here, encrypted: who reads the database alone cannot use them.

Fernet (AES-128-CBC with HMAC-SHA-256) under a key derived from SECRET_KEY by HKDF-SHA-256; keys kept under an older SECRET_KEY
are read while that one stands in SECRET_KEY_FALLBACKS.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from timemachine.core.pure.errors import Unavailable

_PURPOSE = b"timemachine model server key 1"


def encrypted(api_key: str) -> bytes:
    """The key as it is kept."""
    return cipher().encrypt(api_key.encode())


def decrypted(kept: bytes, *, of: str, mend: str) -> str:
    """The key that was kept, of whatever it is. Raises `Unavailable` (`key_unreadable`) where SECRET_KEY has changed since."""
    try:
        return cipher().decrypt(kept).decode()
    except InvalidToken as why:
        raise Unavailable(
            f"The API key of {of} cannot be read, because SECRET_KEY has changed since it was kept. {mend}",
            code="key_unreadable",
            of=of,
        ) from why


def is_readable(kept: bytes) -> bool:
    """Whether the key that was kept can be read with the SECRET_KEY of now."""
    try:
        cipher().decrypt(kept)
    except InvalidToken:
        return False
    return True


def cipher(purpose: bytes = _PURPOSE) -> MultiFernet:
    """What encrypts for one purpose, under a key of its own."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derived(secret, purpose)) for secret in secrets])


def _derived(secret: str | bytes, purpose: bytes) -> bytes:
    material = secret.encode() if isinstance(secret, str) else secret
    derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose)
    return base64.urlsafe_b64encode(derivation.derive(material))
