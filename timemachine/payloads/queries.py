"""Reading payloads back."""

from typing import Any

from timemachine.base.content import sha256_hex, value_of
from timemachine.payloads.models import Payload


def value(payload: Payload | None) -> Any:
    """The value that was kept, whole; None where nothing was."""
    return None if payload is None else value_of(payload.media_type, bytes(payload.data))


def text(payload: Payload) -> str:
    """The payload's bytes as text."""
    return text_of(payload.data)


def text_of(data: bytes | memoryview) -> str:
    """The bytes of a payload as text."""
    return bytes(data).decode("utf-8", "surrogatepass")


def hash_now(payload: Payload) -> str:
    """SHA-256 of the bytes as they stand in the database at this moment, in hex."""
    return sha256_hex(bytes(payload.data))
