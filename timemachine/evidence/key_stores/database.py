"""Signing keys that the database stores, encrypted under SECRET_KEY."""

from cryptography.fernet import InvalidToken
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from timemachine.core.encryption import cipher
from timemachine.core.pure.errors import Unavailable
from timemachine.core.pure.secret_ciphers import SIGNING_KEYS
from timemachine.evidence.key_stores.interface import NewKey


class DatabaseKeys:
    """The store that needs nothing else. The name of a key is the encrypted key itself."""

    def check(self) -> None:
        """Return: whether SECRET_KEY fits is a question of each key."""

    def create(self, project: str) -> NewKey:  # noqa: ARG002  # stores outside the database label the key with it
        """Create a key and encrypt it under the current SECRET_KEY."""
        private = Ed25519PrivateKey.generate()
        encrypted = cipher(SIGNING_KEYS).encrypt(private.private_bytes_raw())
        return NewKey(public_key=private.public_key().public_bytes_raw(), name=encrypted.decode())

    def public_key(self, name: str) -> bytes:
        """Return the public key. Raises `Unavailable` if SECRET_KEY has changed since the key was created."""
        return _private_key(name).public_key().public_bytes_raw()

    def sign(self, name: str, data: bytes) -> bytes:
        """Return the signature. Raises `Unavailable` as `public_key` does."""
        return _private_key(name).sign(data)


def _private_key(encrypted: str) -> Ed25519PrivateKey:
    try:
        raw = cipher(SIGNING_KEYS).decrypt(encrypted.encode())
    except InvalidToken as why:
        raise Unavailable(
            "The key that signs evidence cannot be read because SECRET_KEY has changed since it was created. "
            "Add the earlier value to SECRET_KEY_FALLBACKS, or replace the signing key under Sharing, Evidence key and log.",
            code="signing_key_unreadable",
        ) from why
    return Ed25519PrivateKey.from_private_bytes(raw)
