"""Detects the format of a file: by its content if that is unmistakable, otherwise by the extension, otherwise plain text."""

from pathlib import PurePath
from typing import Final, Literal

from timemachine.core.pure.errors import InvalidInput

type Format = Literal["text", "markdown", "html", "pdf", "jsonl"]

MEDIA_TYPES: Final[dict[Format, str]] = {
    "text": "text/plain",
    "markdown": "text/markdown",
    "html": "text/html",
    "pdf": "application/pdf",
    "jsonl": "application/jsonl",
}
ENDINGS: Final[dict[str, Format]] = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
# Office files are ZIP archives, or the older compound files.
_OFFICE: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_PROGRAMS: Final = {
    ".docx": "Word",
    ".doc": "Word",
    ".xlsx": "Excel",
    ".xls": "Excel",
    ".pptx": "PowerPoint",
    ".ppt": "PowerPoint",
}
_PDF: Final = b"%PDF-"
_WHERE_PDF: Final = 1_024
_PAGES: Final = (b"<!doctype html", b"<html")


def format_of(name: str, data: bytes) -> Format:
    """Return the format of a file.

    Raises:
        InvalidInput: It is named like a PDF but is not one, or it is from an office program.
    """
    ending = PurePath(name).suffix.lower()
    if ending in _PROGRAMS and data.startswith(_OFFICE):
        raise InvalidInput(
            f"{_PROGRAMS[ending]} files are not supported; save it as PDF, HTML or text.",
            code="unreadable_document",
        )
    named = ENDINGS.get(ending)
    if _PDF in data[:_WHERE_PDF] and (named == "pdf" or data.startswith(_PDF)):
        return "pdf"
    if named == "pdf":
        raise InvalidInput("This is not a PDF, although its name ends in .pdf.", code="unreadable_document")
    if named is None and data[:_WHERE_PDF].removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_PAGES):
        return "html"
    return named or "text"
