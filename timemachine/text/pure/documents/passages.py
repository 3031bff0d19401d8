"""Splits a document into passages: short enough for an embedding, and never across a heading or a page."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.text.pure.documents.document import Block, Document, Kind
from timemachine.text.pure.language.sentences import sentences

TARGET: Final = 1_000
MOST: Final = 1_200
MOST_PASSAGES: Final = 200_000
LONGEST_HEADING: Final = 120
BETWEEN: Final = " › "

_LINE: Final = re.compile(r"[^\n\r]*(?:\r\n|\n|\r|\Z)")
_WORD: Final = re.compile(r"\s*\S+")
_ONE_LINE: Final = str.maketrans("\n\r", "  ")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_TABLE_RULE: Final = "|:- \t"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Characters `start` to before `end` of the document, with tables as words. `title` says where it is, `page` on which page."""

    text: str
    title: str
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitDocument:
    """A document's text and title, its passages in order, and what was left out."""

    text: str
    title: str
    passages: tuple[Passage, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A run of characters that fits into a passage and is not split further."""

    start: int
    end: int
    kind: Kind
    page: int | None


def split_document(document: Document, *, title: str, name: str) -> SplitDocument:
    """Split the document. Without a `title`, it gets its own, or the file's `name`.

    Raises:
        InvalidInput: It has no text.
        TooLarge: It has more than `MOST_PASSAGES` passages.
    """
    called = title or document.title or name
    found = passages(document, called) if document.text.strip() else ()
    if not found:
        raise InvalidInput("There is no text in this file.", code="no_text")
    return SplitDocument(text=document.text, title=called, passages=found, left_out=document.left_out)


def passages(document: Document, title: str) -> tuple[Passage, ...]:
    """Return the document's passages in order. `title` is the document's.

    Together they contain every character exactly once, except white space and marks of Markdown tables. Paragraphs,
    lists, tables and code blocks are combined up to `TARGET` characters. Blocks longer than `MOST` are split at lines,
    sentences, words, or if there are none, at `MOST`. A heading starts a passage, together with the headings above it
    that have no text of their own. The title of a passage is the document's, followed by its headings and the page, if
    any.

    Raises:
        TooLarge: There are more than `MOST_PASSAGES`.
    """
    found: list[Passage] = []
    path: list[Block] = []
    for section in _sections(document):
        for block in section:
            if block.kind == "heading":
                path = [*(above for above in path if _level(above) < _level(block)), block]
        names = [_shortened(block.title or "") for block in path]
        if names and names[0] == title:
            names = names[1:]
        named = BETWEEN.join(name for name in (title, *names) if name)
        tables = [block for block in section if block.marked]
        for start, end, page in _packed(document.text, section):
            titled = named if page is None else f"{named}, page {page:,}"
            text = tables_as_words(document.text, tables, start, end)
            if text:
                found.append(Passage(text=text, title=titled, start=start, end=end, page=page))
        if len(found) > MOST_PASSAGES:
            raise TooLarge(
                f"This file has more than {MOST_PASSAGES:,} passages; split it.", limit=MOST_PASSAGES
            )
    return tuple(found)


def _level(block: Block) -> int:
    return block.level or 1


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_HEADING else f"{name[: LONGEST_HEADING - 1].rstrip()}…"


def _sections(document: Document) -> Iterator[list[Block]]:
    """Yield the blocks between two headings, with the headings that start them. A page also starts a section."""
    section: list[Block] = []
    for block in _tiled(document):
        if section and _parts(section[-1], block):
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def _parts(before: Block, block: Block) -> bool:
    if before.page != block.page:
        return True
    if block.kind != "heading":
        return False
    return before.kind != "heading" or _level(before) >= _level(block)


def _tiled(document: Document) -> Iterator[Block]:
    """Yield the blocks without outer white space. Text between two of them becomes a paragraph."""
    text, at, page = document.text, 0, None
    for block in document.blocks:
        for start, end in _solid(text, at, block.start):
            yield Block(kind="paragraph", start=start, end=end, page=page)
        for start, end in _solid(text, block.start, block.end):
            yield replace(block, start=start, end=end)
        at, page = block.end, block.page
    for start, end in _solid(text, at, len(text)):
        yield Block(kind="paragraph", start=start, end=end, page=page)


def _packed(text: str, section: Sequence[Block]) -> Iterator[tuple[int, int, int | None]]:
    """Yield start, end and page of each passage of a section."""
    start = end = section[0].start
    only_headings = True
    for piece in _pieces(text, section):
        if end > start and piece.end - start > (MOST if only_headings else TARGET):
            yield start, end, section[0].page
            start, only_headings = piece.start, True
        only_headings = only_headings and piece.kind == "heading"
        end = piece.end
    yield start, end, section[0].page


def _pieces(text: str, section: Sequence[Block]) -> Iterator[_Piece]:
    """Yield the blocks of a section, long ones in parts. After a heading, less space is left."""
    begin = section[0].start
    only_headings = True
    for block in section:
        space = MOST - (block.start - begin) if only_headings and block.start - begin < TARGET else MOST
        for start, end in _split_block(text, block, space):
            yield _Piece(start=start, end=end, kind=block.kind, page=block.page)
        only_headings = only_headings and block.kind == "heading"


def _split_block(text: str, block: Block, space: int) -> Iterator[tuple[int, int]]:
    if block.end - block.start <= space:
        yield block.start, block.end
        return
    in_lines = block.kind in {"code", "table", "list"}
    for start, end in _lines(text, block) if in_lines else [(block.start, block.end)]:
        if in_lines and end - start <= MOST:
            yield start, end
        else:
            yield from _by_sentences(text, start, end)


def _lines(text: str, block: Block) -> Iterator[tuple[int, int]]:
    at = block.start
    while at < block.end:
        found = _LINE.match(text, at, block.end)
        stop = block.end if found is None else found.end()
        yield from _solid(text, at, stop)
        at = stop


def _by_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    # line breaks in a paragraph depend on the writer's window and do not end sentences
    for sentence in sentences(text[start:end].translate(_ONE_LINE)):
        for first, stop in _solid(text, start + sentence.start, start + sentence.end):
            if stop - first <= MOST:
                yield first, stop
            else:
                yield from _by_words(text, first, stop)


def _by_words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield runs of words. A word longer than a passage is cut."""
    begin = start
    for word in _WORD.finditer(text, start, end):
        if word.end() - begin > TARGET and word.start() > begin:
            yield from _cut(text, begin, word.start())
            begin = word.start()
    yield from _cut(text, begin, end)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for first, stop in _solid(text, start, end):
        for at in range(first, stop, MOST):
            yield from _solid(text, at, min(at + MOST, stop))


def _solid(text: str, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return the run without surrounding white space, or nothing if it has nothing else."""
    run = text[start:end]
    length = len(run.rstrip())
    return ((end - len(run.lstrip()), start + length),) if length else ()


def tables_as_words(text: str, tables: Sequence[Block], start: int, end: int) -> str:
    """Return the text from `start` to before `end` with the rows of its Markdown tables (in order) without markup.

    Cells are separated by " | ", as for HTML. Rows of dashes and of empty cells are left out, and surrounding white space with them.
    """
    parts: list[str] = []
    at = start
    reached = bisect_right(tables, start, key=lambda table: table.end)
    beyond = bisect_left(tables, end, key=lambda table: table.start)
    for table in tables[reached:beyond]:
        first, after = max(table.start, start), min(table.end, end)
        parts += text[at:first], "\n".join(_rows(text[first:after]))
        at = after
    return "".join([*parts, text[at:end]]).strip() if parts else text[start:end]


def _rows(table: str) -> Iterator[str]:
    for line in _LINE_END.split(table):
        cells = _cells(line) if line.strip(_TABLE_RULE) else []
        if any(cells):
            yield " | ".join(cells).strip()


def _cells(line: str) -> list[str]:
    """Return the cells of a row. A bar after a backslash is part of a cell."""
    bare = line.strip().removeprefix("|")
    cells = [each.strip().replace("\\|", "|") for each in _CELL_END.split(bare)]
    return cells if cells[-1] else cells[:-1]
