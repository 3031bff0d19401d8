"""What a payload consists of for a reader."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Plain:
    """Text as it was recorded: the output of a program, a file."""

    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """Text written for a reader, which may be Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Terminal:
    """The output of a terminal: the recorded text, and its texts with the names of their colours and styles."""

    text: str
    runs: Sequence[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Line:
    """Consecutive lines of a patch with one sign: removed, added, unchanged, or about the patch itself."""

    sign: Literal["-", "+", " ", "@"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A change of a file: its path, what is done to it in words, and its lines."""

    path: str
    does: str
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """An entry of a to-do list and its state in the agent's words."""

    text: str
    state: str


@dataclass(frozen=True, slots=True)
class Todos:
    """A to-do list."""

    items: Sequence[Todo]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image in the payload by its number among its images, from 0. `shape` is its width and height, if its beginning has them."""

    number: int
    media_type: str
    shape: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of flat values. `more` rows are not among them. None is a value that the row does not have."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | None]]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A value of an object by its path (`content[0].text`). A `literal` is a number, true, false or null."""

    path: str
    pieces: "Sequence[Piece]"
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Fields:
    """The values of an object or a list."""

    fields: Sequence[Field]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a message that is no text of its author: a call, a result, thinking. `words` say what it is, `name` of what."""

    words: str
    name: str | None
    pieces: "Sequence[Piece]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message and who wrote it."""

    role: str
    pieces: "Sequence[Piece]"


Piece = Plain | Prose | Terminal | Patch | Todos | Picture | Table | Fields | Part | Message
