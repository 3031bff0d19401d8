"""Plain text: blank lines separate paragraphs."""

import re
from collections.abc import Iterator
from typing import Final

from timemachine.text.pure.documents.decoding import decoded
from timemachine.text.pure.documents.document import Block, Document

_LINE: Final = re.compile(r"[^\n\r]*(?:\r\n|\n|\r|\Z)")


def read_plain_text(data: bytes) -> Document:
    """Read a text file. Its text is the decoded file.

    Raises:
        InvalidInput: The file cannot be decoded.
    """
    text = decoded(data)
    return Document(text=text, blocks=paragraphs(text))


def paragraphs(text: str, *, page: int | None = None, offset: int = 0) -> tuple[Block, ...]:
    """Return the paragraphs of a text that is at `offset` in a longer one."""
    return tuple(
        Block(kind="paragraph", start=start + offset, end=end + offset, page=page)
        for start, end in _runs(text)
    )


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of lines that are not blank. The last line is the empty one at the end."""
    start: int | None = None
    end = 0
    for line in _LINE.finditer(text):
        if not line.group().strip():
            if start is not None:
                yield start, end
            start = None
            continue
        start = line.start() if start is None else start
        end = line.end()
