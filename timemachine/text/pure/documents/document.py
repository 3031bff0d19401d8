"""A document: a text and its blocks."""

from dataclasses import dataclass
from typing import Final, Literal

type Kind = Literal["heading", "paragraph", "list", "code", "table"]

LARGEST_FILE: Final = 32 * 1024 * 1024
LARGEST_TEXT: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A part of a text from `start` to before `end`, in characters.

    A heading has a `level` from 1 (highest) to 6 and a `title` without markup. `page` counts from 1 in files with
    pages. A table is `marked` if its text has Markdown's marks between the cells.
    """

    kind: Kind
    start: int
    end: int
    level: int | None = None
    title: str | None = None
    page: int | None = None
    marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file that was read: its text, its blocks in order, its own title if it has one, and what was left out.

    For plain text and Markdown, the text is the decoded file. For HTML and PDF, it is the extracted text.
    """

    text: str
    blocks: tuple[Block, ...]
    title: str | None = None
    left_out: tuple[str, ...] = ()
