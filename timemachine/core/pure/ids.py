"""Identifiers and secrets."""

import hashlib
import os
import secrets
import time
import uuid

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


def uuid7() -> uuid.UUID:
    """A UUID version 7 (RFC 9562, 5.7): 48 bits of Unix milliseconds, then 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    tail = int.from_bytes(os.urandom(10), "big")
    number = (milliseconds & (1 << 48) - 1) << 80 | tail
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=number)


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
