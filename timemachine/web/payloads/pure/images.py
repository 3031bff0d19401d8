"""Images in a recorded value: as the blocks of messages that hold them, and as data URLs.

What they are is read from their bytes. Only formats that cannot hold scripts are images here; anything else stays text.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_DATA_URL: Final = re.compile(r"data:image/[a-z0-9.+-]+;base64,([A-Za-z0-9+/_=-]+)", re.IGNORECASE)
_SIGNATURES: Final = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_BEGINNING: Final = 64
_MOST_DEPTH: Final = 60
_SHORTEST: Final = 40
_PNG: Final = "image/png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image as base64, with what its first bytes say it is."""

    media_type: str
    data: str

    @property
    def shape(self) -> tuple[int, int] | None:
        """Width and height of a PNG; None for other formats."""
        if self.media_type != _PNG:
            return None
        head = _decoded(self.data[:_BEGINNING])
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])

    @property
    def content(self) -> bytes:
        """The bytes of the image."""
        return _decoded(self.data)


def image_in(value: Any) -> Image | None:
    """Return the image that this value itself is: a data URL, or an object with the base64 of an image in a known place."""
    if isinstance(value, str):
        found = _DATA_URL.fullmatch(value)
        return _image(found[1]) if found else None
    if not isinstance(value, Mapping):
        return None
    for place in (value.get("source"), value.get("inlineData"), value.get("inline_data"), value):
        if isinstance(place, Mapping) and _says_image(place, value) and isinstance(place.get("data"), str):
            return _image(place["data"])
    address = value.get("image_url")
    address = address.get("url") if isinstance(address, Mapping) else address
    return image_in(address) if isinstance(address, str) else None


def images(value: Any) -> Iterator[Image]:
    """Yield the images of a value in the order in which they were written."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        each, depth = waiting.pop()
        found = image_in(each)
        if found is not None:
            yield found
        elif depth < _MOST_DEPTH:
            inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
            waiting += [(one, depth + 1) for one in reversed(list(inner))]


def _says_image(place: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    stated = place.get("media_type") or place.get("mimeType") or place.get("mime_type") or ""
    return str(stated).startswith("image/") or value.get("type") == "image"


def _image(data: str) -> Image | None:
    if len(data) < _SHORTEST:
        return None
    head = _decoded(data[:_BEGINNING])
    media_type = next((kind for start, kind in _SIGNATURES.items() if head.startswith(start)), None)
    if media_type is None and head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        media_type = "image/webp"
    return Image(media_type=media_type, data=data) if media_type else None


def _decoded(data: str) -> bytes:
    """Return the bytes of base64 in either alphabet, without an incomplete last one; empty if it is invalid."""
    text = data.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(text[: len(text) // 4 * 4] + _rest(text), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _rest(text: str) -> str:
    over = text[len(text) // 4 * 4 :]
    return over + "=" * (4 - len(over)) if len(over) > 1 else ""
