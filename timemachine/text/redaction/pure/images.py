"""Images as base64: what they show cannot be searched, so all of each one is withheld."""

from collections.abc import Iterator
from typing import Final

from timemachine.text.redaction.pure.engine import compiled, spans

_DATA_URL: Final = "data:image/"
_BEGINNINGS: Final = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "SUkqA", "TU0AK", "Qk0")
"""The first bytes of PNG, JPEG, GIF, WebP (any RIFF file), TIFF and BMP as base64."""
_TYPE: Final = "GZ0eX"
"""The fifth to eighth byte of AVIF and HEIC, after their length."""
_SHORTEST: Final = 200
"""Characters of base64 that an image has at least: shorter ones show nothing, and other values begin in the same way."""
_BASE64: Final = r"(?:[A-Za-z0-9+/_=-]|\\/)"
_LINES: Final = rf"(?:{_BASE64}|(?:\r?\n|\\n){_BASE64}{{60}})*"
_IMAGE: Final = (
    rf"(?:^|[^A-Za-z0-9+/_=-])((?:{'|'.join(_BEGINNINGS)}|AAAA[A-Za-z0-9+/]{_TYPE}){_BASE64}{{20}}{_LINES})"
)
_IN_DATA_URL: Final = rf"data:image/[^\s,\"']{{1,100}},({_BASE64}{_LINES})"


def images_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of images as base64, alone or in a data URL. `text` must be readable for the engine."""
    if _DATA_URL in text:
        yield from spans(compiled(_IN_DATA_URL), text)
    if len(text) >= _SHORTEST and any(each in text for each in (*_BEGINNINGS, _TYPE)):
        for start, end in spans(compiled(_IMAGE), text):
            if end - start >= _SHORTEST:
                yield start, end
