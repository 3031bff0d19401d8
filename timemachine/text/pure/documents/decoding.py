"""Decodes text files: UTF-8, or UTF-16 with a byte order mark. Recognizes binary files."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, register_error
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput

_MARKS: Final = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))
_CONTROLS: Final = "timemachine.controls"
# browsers decode bytes that are undefined in these encodings as control characters
_WITH_CONTROLS: Final = ("cp1252", "cp1254")
_IMAGE, _SOUND, _VIDEO = "an image", "a sound", "a video"
_BEGINNINGS: Final = (
    (0, b"\x89PNG", f"{_IMAGE} (PNG)"),
    (0, b"\xff\xd8\xff", f"{_IMAGE} (JPEG)"),
    (0, b"GIF8", f"{_IMAGE} (GIF)"),
    (8, b"WEBP", f"{_IMAGE} (WebP)"),
    (0, b"II*\x00", f"{_IMAGE} (TIFF)"),
    (0, b"MM\x00*", f"{_IMAGE} (TIFF)"),
    (8, b"WAVE", f"{_SOUND} (WAV)"),
    (0, b"ID3", f"{_SOUND} (MP3)"),
    (0, b"OggS", f"{_SOUND} (Ogg)"),
    (4, b"ftyp", f"{_VIDEO} (MP4)"),
    (0, b"PK\x03\x04", "a ZIP archive or an office document"),
    (0, b"\xd0\xcf\x11\xe0", "an office document"),
    (0, b"\x1f\x8b", "a compressed file (gzip)"),
    (0, b"7z\xbc\xaf\x27\x1c", "a compressed file (7z)"),
    (0, b"\x7fELF", "a program"),
    (0, b"SQLite format 3\x00", "a database (SQLite)"),
)
_LOOKED_AT: Final = 4_096
_WRITTEN: Final = b"\t\n\v\f\r\x1b"
_CONTROL_BYTES: Final = bytes(each for each in range(32) if each not in _WRITTEN)
_SHARE: Final = 0.05  # compressed data has about 0.1, text in an older encoding has none


def _as_controls(why: Any) -> tuple[str, int]:
    return why.object[why.start : why.end].decode("latin-1"), why.end


register_error(_CONTROLS, _as_controls)


def decoded(data: bytes, *, otherwise: str = "utf-8") -> str:
    """Decode the text and remove its byte order mark. `otherwise` is the encoding of a file without one.

    Raises:
        InvalidInput: The bytes are not text: they cannot be decoded, or contain U+0000.
    """
    mark, encoding = next((each for each in _MARKS if data.startswith(each[0])), (b"", otherwise))
    try:
        text = data.removeprefix(mark).decode(encoding, _CONTROLS if encoding in _WITH_CONTROLS else "strict")
    except UnicodeDecodeError as why:
        place = why.start + len(mark) + 1
        _refuse_binary(data)
        raise InvalidInput(
            f"Byte {place:,} is not valid {encoding.upper()}; save the file as UTF-8 and upload it again.",
            code="not_text",
            byte=place,
        ) from why
    if "\x00" in text:
        _refuse_binary(data)
        raise InvalidInput(
            "This is not text: it contains NUL bytes. Send text, Markdown, HTML, PDF or JSONL.",
            code="not_text",
        )
    return text


def _refuse_binary(data: bytes) -> None:
    kind = _binary_kind(data)
    if kind is not None:
        raise InvalidInput(
            f"This is {kind}, not text. Send text, Markdown, HTML, PDF or JSONL.", code="not_text"
        )


def _binary_kind(data: bytes) -> str | None:
    """Return what kind of file the bytes are, with an article. None if they may be text in some encoding."""
    known = next((kind for at, mark, kind in _BEGINNINGS if data[at : at + len(mark)] == mark), None)
    if known is not None:
        return known
    head = data[:_LOOKED_AT]
    controls = len(head) - len(head.translate(None, _CONTROL_BYTES))
    return "binary data" if controls > _SHARE * len(head) else None
