"""What reading a file comes to: a text, and the blocks that it consists of."""

from dataclasses import dataclass
from typing import Final, Literal

type Kind = Literal["heading", "paragraph", "list", "code", "table"]

LARGEST_FILE: Final = 32 * 1024 * 1024
LARGEST_TEXT: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a text from `start` to before `end`, in characters.

    A heading has a `level` from 1 (the highest) to 6 and a `title`, its words without marks. `page` counts from 1, where the file has pages.
    A table is `marked` where its text has Markdown's marks between the cells.
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
    """A file that was read: its text, its blocks in order, the title that it gives itself, where it does, and what was left out.

    Of a text and of Markdown the text is the decoded file, character by character; of HTML and PDF it is what was extracted.
    """

    text: str
    blocks: tuple[Block, ...]
    title: str | None = None
    left_out: tuple[str, ...] = ()
