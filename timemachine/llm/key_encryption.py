"""Encrypts the API keys that a project stores here. The database alone is not enough to use them."""

from cryptography.fernet import InvalidToken

from timemachine.core.encryption import Reencrypted, cipher, reencrypt
from timemachine.core.pure.errors import Unavailable
from timemachine.llm.models import ModelServer, ProviderKey

_PURPOSE = b"timemachine model server key 1"


def encrypted(api_key: str) -> bytes:
    """Encrypt a key for storage."""
    return cipher(_PURPOSE).encrypt(api_key.encode())


def decrypted(stored: bytes, *, of: str, fix: str) -> str:
    """Decrypt a stored key. `of` names its owner in the error, `fix` says what to do.

    Raises `Unavailable` (`key_unreadable`) if SECRET_KEY has changed.
    """
    try:
        return cipher(_PURPOSE).decrypt(stored).decode()
    except InvalidToken as why:
        raise Unavailable(
            f"The API key of {of} cannot be decrypted because SECRET_KEY has changed. {fix}",
            code="key_unreadable",
            of=of,
        ) from why


def is_readable(stored: bytes) -> bool:
    """Return whether the stored key can be decrypted with the current SECRET_KEY or a fallback."""
    try:
        cipher(_PURPOSE).decrypt(stored)
    except InvalidToken:
        return False
    return True


def reencrypt_keys() -> list[Reencrypted]:
    """Encrypt the keys of providers and of servers under the current SECRET_KEY."""
    servers = ModelServer.objects.exclude(encrypted_key=None)
    return [
        reencrypt(ProviderKey.objects.all(), "encrypted_key", purpose=_PURPOSE, noun="provider key"),
        reencrypt(servers, "encrypted_key", purpose=_PURPOSE, noun="model server key"),
    ]
