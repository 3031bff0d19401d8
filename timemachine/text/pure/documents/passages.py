"""A document as passages: each short enough that an embedding sees it nearly whole, none across a heading or a page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.text.pure.documents.document import Block, Document, Kind
from timemachine.text.pure.documents.tables import in_words
from timemachine.text.pure.language.sentences import sentences

TARGET: Final = 1_000
MOST: Final = 1_200
MOST_PASSAGES: Final = 200_000
LONGEST_HEADING: Final = 120
BETWEEN: Final = " › "

_LINE: Final = re.compile(r"[^\n\r]*(?:\r\n|\n|\r|\Z)")
_WORD: Final = re.compile(r"\s*\S+")
_ONE_LINE: Final = str.maketrans("\n\r", "  ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Characters `start` to before `end` of the document's text, its tables in words; `title` says where it stands, `page` on which page."""

    text: str
    title: str
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parted:
    """A document's text, what it is called, its passages in order, and what was left out of it."""

    text: str
    title: str
    passages: tuple[Passage, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """What is not parted any more: a run of characters that fits into a passage."""

    start: int
    end: int
    kind: Kind
    page: int | None


def parted(document: Document, *, title: str, name: str) -> Parted:
    """The document in its passages; without a `title` it is called what it calls itself, else by the file's `name`.

    Raises `InvalidInput` where it holds no text, `TooLarge` for more than `MOST_PASSAGES`.
    """
    called = title or document.title or name
    found = passages(document, called) if document.text.strip() else ()
    if not found:
        raise InvalidInput("There is no text in this file.", code="no_text")
    return Parted(text=document.text, title=called, passages=found, left_out=document.left_out)


def passages(document: Document, title: str) -> tuple[Passage, ...]:
    """The document's passages in order; `title` is what the document is called.

    Together they hold every character that is not white space, or a mark of a Markdown table, exactly once. Whole
    paragraphs, lists, tables and code blocks are packed up to `TARGET` characters; what is longer than `MOST` is parted
    at lines, sentences, words, and where there is none of these, at `MOST`. A heading opens a passage together with those above it that have no text of their own; its
    passages are called after the document, the headings that they stand under, and the page, where there are pages. Raises `TooLarge` for more than `MOST_PASSAGES`.
    """
    found: list[Passage] = []
    path: list[Block] = []
    for section in _sections(document):
        for block in section:
            if block.kind == "heading":
                path = [*(above for above in path if _level(above) < _level(block)), block]
        named = BETWEEN.join(_names(title, path))
        tables = [block for block in section if block.marked]
        for start, end, page in _packed(document.text, section):
            titled = named if page is None else f"{named}, page {page:,}"
            said = in_words(document.text, tables, start, end)
            if said:
                found.append(Passage(text=said, title=titled, start=start, end=end, page=page))
        if len(found) > MOST_PASSAGES:
            raise TooLarge(
                f"This file comes to more than {MOST_PASSAGES:,} passages; split it.", limit=MOST_PASSAGES
            )
    return tuple(found)


def _level(block: Block) -> int:
    return block.level or 1


def _names(title: str, path: Sequence[Block]) -> list[str]:
    names = [_shortened(block.title or "") for block in path]
    if names and names[0] == title:
        names = names[1:]
    return [name for name in (title, *names) if name]


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_HEADING else f"{name[: LONGEST_HEADING - 1].rstrip()}…"


def _sections(document: Document) -> Iterator[list[Block]]:
    """The blocks between two headings, after the headings that open them; a page begins a new one, too."""
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
    """The blocks without outer white space; what stands between two of them is a paragraph of its own."""
    text, at, page = document.text, 0, None
    for block in document.blocks:
        for start, end in _solid(text, at, block.start):
            yield Block(kind="paragraph", start=start, end=end, page=page)
        for start, end in _solid(text, block.start, block.end):
            yield Block(
                kind=block.kind,
                start=start,
                end=end,
                level=block.level,
                title=block.title,
                page=block.page,
                marked=block.marked,
            )
        at, page = block.end, block.page
    for start, end in _solid(text, at, len(text)):
        yield Block(kind="paragraph", start=start, end=end, page=page)


def _packed(text: str, section: Sequence[Block]) -> Iterator[tuple[int, int, int | None]]:
    """Start, end and page of each passage of a section."""
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
    """The blocks of a section, those that are too long in parts; behind a heading there is less room."""
    begin = section[0].start
    only_headings = True
    for block in section:
        room = MOST - (block.start - begin) if only_headings and block.start - begin < TARGET else MOST
        for start, end in _parted(text, block, room):
            yield _Piece(start=start, end=end, kind=block.kind, page=block.page)
        only_headings = only_headings and block.kind == "heading"


def _parted(text: str, block: Block, room: int) -> Iterator[tuple[int, int]]:
    if block.end - block.start <= room:
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
    # a paragraph's line breaks are its writer's window, not ends of sentences
    for sentence in sentences(text[start:end].translate(_ONE_LINE)):
        for first, stop in _solid(text, start + sentence.start, start + sentence.end):
            if stop - first <= MOST:
                yield first, stop
            else:
                yield from _by_words(text, first, stop)


def _by_words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of whole words; a word that is longer than a passage is cut."""
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
    """The run without the white space around it; nothing where there is nothing else."""
    said = text[start:end]
    kept = len(said.rstrip())
    return ((end - len(said.lstrip()), start + kept),) if kept else ()
