"""The cipher for secrets that the database stores: Fernet (AES-128-CBC with HMAC-SHA-256) under a key derived from SECRET_KEY.

What was encrypted under an earlier SECRET_KEY can be read while that is in SECRET_KEY_FALLBACKS.
"""

import base64

from cryptography.fernet import Fernet, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def cipher(purpose: bytes) -> MultiFernet:
    """Return the cipher for one purpose, which has its own key, derived by HKDF-SHA-256."""
    keys: list[Fernet] = []
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose)
        derived = derivation.derive(secret.encode() if isinstance(secret, str) else secret)
        keys.append(Fernet(base64.urlsafe_b64encode(derived)))
    return MultiFernet(keys)
