"""Reading payloads back."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import BinaryField, F, Func, Value

from timemachine.core.payloads.models import Payload
from timemachine.core.pure.content import sha256_hex, value_of


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How a payload begins, and how many bytes it has in all."""

    media_type: str
    data: bytes
    size: int


def heads(ids: Iterable[int], length: int) -> dict[int, Head]:
    """The first so many bytes of payloads, by row. One query. Whoever asks has these rows from a project's own."""
    begins = Func(F("data"), Value(1), Value(length), function="substring", output_field=BinaryField())
    found = Payload.objects.filter(id__in=list(ids)).annotate(head=begins)
    return {
        row: Head(media_type=media_type, data=bytes(head), size=size)
        for row, media_type, head, size in found.values_list("id", "media_type", "head", "size")
    }
