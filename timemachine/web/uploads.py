"""Uploaded files, as a form brings them; and one that is the text of a passage."""

from dataclasses import dataclass

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.knowledge.commands import LARGEST_FRAME
from timemachine.text.pure.documents.decoding import decoded


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedText:
    """A file as it came: its name and its bytes."""

    name: str
    data: bytes


def text_of(file: UploadedText) -> str:
    """The text of a file that is one passage. Raises `InvalidInput` for other bytes and for no text, `TooLarge`."""
    try:
        text = decoded(file.data)
    except InvalidInput as why:
        raise InvalidInput(f"{file.name}: {why.message}", code=why.code) from why
    if not text.strip():
        raise InvalidInput(f"{file.name}: there is no text in it; every passage needs one.", code="no_text")
    size = len(text.encode())
    if size > LARGEST_FRAME:
        raise TooLarge(
            f"{file.name}: this passage has {size:,} bytes, and one may have {LARGEST_FRAME:,}; put it in parts.",
            limit_bytes=LARGEST_FRAME,
        )
    return text
