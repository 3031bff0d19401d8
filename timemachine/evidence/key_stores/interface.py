"""The interface of a store of signing keys."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key that a store has created: its public key (32 bytes, RFC 8032), and its name there, at most 2,000 characters."""

    public_key: bytes
    name: str


class KeyStore(Protocol):
    """Creates Ed25519 keys and signs with them. A private key need not leave the store.

    There is one instance in a process, which many threads use. A method raises `Unavailable` if the store does not work or does not
    have the key; its message says what to do, without secrets. Then nothing is lost: what waits is signed later.
    """

    def check(self) -> None:
        """Return if the store can be used now."""
        ...

    def create(self, project: str) -> NewKey:
        """Create a key for the project of this id."""
        ...

    def public_key(self, name: str) -> bytes:
        """Return the public key of a key that can sign now."""
        ...

    def sign(self, name: str, data: bytes) -> bytes:
        """Return the key's signature over these bytes (64 bytes, RFC 8032, neither prehashed nor with a context)."""
        ...
