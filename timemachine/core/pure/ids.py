"""Identifiers and secrets."""

import hashlib
import secrets
import threading
import time
import uuid

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_MILLISECOND = 1_000_000
_lock = threading.Lock()
_latest = 0


def uuid7() -> uuid.UUID:
    """Return a UUID version 7 that is greater than all that this process made before: sorting by id sorts by
    creation.

    It has 48 bits of Unix milliseconds, 12 bits of the fraction of the millisecond (RFC 9562, 6.2, method 3), and
    62 random bits. If the clock has not advanced or was set back, it counts on from the previous one.
    """
    global _latest  # noqa: PLW0603
    milliseconds, nanoseconds = divmod(time.time_ns(), _MILLISECOND)
    with _lock:
        _latest = max(_latest + 1, milliseconds << 12 | (nanoseconds << 12) // _MILLISECOND)
        ticks = _latest
    number = (ticks >> 12 & (1 << 48) - 1) << 80 | 0x7 << 76 | (ticks & 0xFFF) << 64
    return uuid.UUID(int=number | 0x2 << 62 | secrets.randbits(62))


def uuid_of(text: str) -> uuid.UUID | None:
    """Parse a UUID. Return None if the text is not one."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def public_id() -> str:
    """Return a random id for display: 12 lower-case letters and digits that are not easily confused."""
    return "".join(secrets.choice(_LETTERS) for _ in range(12))


def secret() -> str:
    """Return a random, URL-safe secret of 256 bits."""
    return secrets.token_urlsafe(32)


def secret_hash(text: str) -> str:
    """Return the SHA-256 of a random secret, which is all that is stored of it.

    A fast hash is right for 256 random bits, not for passwords.
    """
    return hashlib.sha256(text.encode()).hexdigest()


def same_secret(text: str, stored_hash: str) -> bool:
    """Return whether the text is the secret with this hash, in constant time."""
    return secrets.compare_digest(secret_hash(text), stored_hash)
