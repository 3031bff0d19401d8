"""Uploaded files of a form, and files with the text of a passage."""

from dataclasses import dataclass

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.knowledge.commands import LARGEST_FRAME
from timemachine.text.pure.documents.decoding import decoded


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedText:
    """An uploaded file: its name and its bytes."""

    name: str
    data: bytes


def text_of(file: UploadedText) -> str:
    """Return the text of a file with one passage. Raises `InvalidInput` if it is not text or empty, `TooLarge`."""
    try:
        text = decoded(file.data)
    except InvalidInput as why:
        raise InvalidInput(f"{file.name}: {why.message}", code=why.code) from why
    if not text.strip():
        raise InvalidInput(f"{file.name}: the file has no text.", code="no_text")
    size = len(text.encode())
    if size > LARGEST_FRAME:
        raise TooLarge(
            f"{file.name}: the passage has {size:,} bytes; the limit is {LARGEST_FRAME:,}. Split it into parts.",
            limit_bytes=LARGEST_FRAME,
        )
    return text
