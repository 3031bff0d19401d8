"""What a file is that is no text, by how its bytes begin or by how many of them are control characters."""

from typing import Final

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
_CONTROLS: Final = bytes(each for each in range(32) if each not in _WRITTEN)
_SHARE: Final = 0.05  # compressed bytes have about 0.1; a text in an older encoding has none


def binary_kind(data: bytes) -> str | None:
    """What the bytes are, with its article; None where they may be a text in some encoding."""
    known = next((kind for at, mark, kind in _BEGINNINGS if data[at : at + len(mark)] == mark), None)
    if known is not None:
        return known
    head = data[:_LOOKED_AT]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return "binary data" if controls > _SHARE * len(head) else None
