"""Images as base64: what they show cannot be searched, so all of each one is withheld."""

import re
from collections.abc import Iterator
from typing import Final

from timemachine.text.redaction.pure.engine import compiled, spans

_DATA_URL: Final = "data:image/"
_BEGINNINGS: Final = ("iVBORw0KGgo", "R0lGOD", "UklGR", "SUkqA", "TU0AK", "Qk0")
"""The first bytes of PNG, GIF, WebP (any RIFF file), TIFF and BMP as base64."""
_JPEG: Final = "9j"
"""The second and third character of a JPEG; the others are a slash, which URL-safe base64 and JSON write in another way."""
_TYPE: Final = "GZ0eX"
"""The fifth to eighth byte of AVIF and HEIC, after their length."""
_SHORTEST: Final = 200
"""Characters of base64 that an image has at least: shorter ones show nothing, and other values begin in the same way."""
_BASE64: Final = r"(?:[A-Za-z0-9+/_=-]|\\/|%2[BFbf]|%3[Dd])"
_BREAK: Final = r"(?:\r?\n|(?:\\r)?\\n)[ \t]*"
_LINE: Final = rf"{_BASE64}{{32}}{_BASE64}*"
_LAST_LINE: Final = rf"(?:{_BREAK}{_BASE64}*(?:=|%3[Dd]))?"
_LINES: Final = rf"{_BASE64}*(?:{_BREAK}{_LINE})*{_LAST_LINE}"
_BEGIN: Final = rf"(?:{'|'.join(_BEGINNINGS)}|(?:\\?/|_){_JPEG}(?:\\?/|_)|AAAA[A-Za-z0-9+/]{_TYPE})"
_IMAGE: Final = rf"{_BEGIN}{_BASE64}{{20}}{_LINES}"
_BEFORE: Final = re.compile(r"[A-Za-z0-9+/_=\\-]")
"""A character of other base64, in which an image does not begin."""
_HEAD: Final = r"data:image/[^\s,\"']{1,100},"


def images_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of images as base64, alone or in a data URL. `text` must be readable for the engine."""
    if _DATA_URL in text:
        for _, end in spans(compiled(_HEAD), text):
            data = compiled(_LINES).match(text, end)
            if data.end() > end:
                yield data.span()
    if len(text) >= _SHORTEST and any(each in text for each in (*_BEGINNINGS, _JPEG, _TYPE)):
        for start, end in spans(compiled(_IMAGE), text):
            if end - start >= _SHORTEST and not _BEFORE.match(text[start - 1 : start]):
                yield start, end
