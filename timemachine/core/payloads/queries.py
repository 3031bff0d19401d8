"""Read payloads."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.stored import shown_of
from timemachine.core.pure.content import readable_value, sha256_hex
from timemachine.core.pure.errors import DamagedContent


def value(payload: Payload | None) -> Any:
    """Return the stored value, of altered bytes that are not readable as such their text. None without a payload.

    Raises `DamagedContent`.
    """
    return None if payload is None else readable_value(payload.media_type, payload.data)


def text(payload: Payload) -> str:
    """Return the payload's bytes as text. Raises `DamagedContent`."""
    return text_of(payload.data)


def text_of(data: bytes | memoryview) -> str:
    """Decode the bytes of a payload as text; altered bytes can be none."""
    return str(readable_value("text/plain", bytes(data)))


def current_data(payload: Payload) -> bytes:
    """Return the bytes that are in the database now, of damaged ones what is stored: they have another hash."""
    try:
        return payload.data
    except DamagedContent:
        return bytes(payload.stored)


def current_sha256(payload: Payload) -> str:
    """Compute the SHA-256 of the bytes that are in the database now, in hex."""
    return sha256_hex(current_data(payload))


def is_intact(payload: Payload | None) -> bool:
    """Return whether the bytes in the database have the recorded hash; those of no payload do."""
    return payload is None or current_sha256(payload) == payload.sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The first bytes of a payload and its total size in bytes."""

    media_type: str
    data: bytes
    size: int


def heads(ids: Iterable[int], length: int) -> dict[int, Head]:
    """Return the first `length` bytes of payloads by id, in one query. The ids must be those of one project's rows."""
    found = Payload.objects.filter(id__in=list(ids)).annotate(head=shown_of(length))
    return {
        row: Head(media_type=media_type, data=head, size=size)
        for row, media_type, head, size in found.values_list("id", "media_type", "head", "size")
    }
