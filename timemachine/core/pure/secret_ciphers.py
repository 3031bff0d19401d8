"""The cipher for secrets that the database stores: Fernet (AES-128-CBC with HMAC-SHA-256) under a key derived from SECRET_KEY."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

SIGNING_KEYS: Final = b"timemachine evidence key 1"
"""The purpose of the cipher for keys that sign evidence."""


def cipher_under(secrets: Sequence[str | bytes], purpose: bytes) -> MultiFernet:
    """Return the cipher for one purpose, which has its own key, derived by HKDF-SHA-256.

    It encrypts under the first secret, and decrypts what was encrypted under any of them.
    """
    from cryptography.fernet import Fernet, MultiFernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    keys: list[Fernet] = []
    for secret in secrets:
        derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose)
        derived = derivation.derive(secret.encode() if isinstance(secret, str) else secret)
        keys.append(Fernet(base64.urlsafe_b64encode(derived)))
    return MultiFernet(keys)
