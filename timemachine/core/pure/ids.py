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
    """A UUID version 7 that is greater than any that this process made before: rows in the order of their ids are in the order of their creation.

    48 bits of Unix milliseconds, 12 bits of the fraction of the millisecond (RFC 9562, 6.2, method 3), then 62 random bits. Where
    the clock has not moved on, or was set back, the time of the one before is counted on.
    """
    global _latest  # noqa: PLW0603
    milliseconds, nanoseconds = divmod(time.time_ns(), _MILLISECOND)
    with _lock:
        _latest = max(_latest + 1, milliseconds << 12 | (nanoseconds << 12) // _MILLISECOND)
        ticks = _latest
    number = (ticks >> 12 & (1 << 48) - 1) << 80 | 0x7 << 76 | (ticks & 0xFFF) << 64
    return uuid.UUID(int=number | 0x2 << 62 | secrets.randbits(62))


def uuid_of(text: str) -> uuid.UUID | None:
    """The UUID that the text names; None for any other text."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def public_id(length: int = 12) -> str:
    """A random name that may be shown: lower-case letters and digits that are not mistaken for each other."""
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def secret() -> str:
    """A secret of 256 random bits, safe in a URL."""
    return secrets.token_urlsafe(32)


def secret_hash(text: str) -> str:
    """What is kept of a random secret: its SHA-256. (A fast hash is right for 256 random bits, not for passwords.)"""
    return hashlib.sha256(text.encode()).hexdigest()


def same_secret(text: str, stored_hash: str) -> bool:
    """Whether the text is the secret of that hash, in constant time."""
    return secrets.compare_digest(secret_hash(text), stored_hash)
