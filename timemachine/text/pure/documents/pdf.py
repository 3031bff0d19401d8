"""PDF: the text of each page, line by line, and the headings in its outline."""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.text.pure.documents.document import LARGEST_TEXT, Block, Document
from timemachine.text.pure.documents.plain_text import paragraphs

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

_PARAGRAPH_GAP: Final = 1.3  # times the usual distance between two lines of the page
_ENCRYPTED: Final = 4
_PAGE_BREAK: Final = "\n\n"
_MOST_HEADINGS: Final = 10_000
_AS_TEXT: Final = str.maketrans({"\r": None, "\x00": " ", "\x02": "-", "\ufffe": "-"})


def read_pdf(data: bytes) -> Document:
    """Read a PDF file.

    Lines close together form a paragraph. A line is a heading if it is an entry of the outline for its page.

    Raises:
        InvalidInput: The file is encrypted, damaged, or has no text.
        TooLarge: The text is too long.
    """
    pdf = _opened(data)
    outline = _outline(pdf)
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    for number in range(1, len(pdf) + 1):
        text = _text(pdf[number - 1])
        gap = _PAGE_BREAK if parts and text else ""
        blocks += _blocks(text, outline.get(number, {}), page=number, offset=length + len(gap))
        parts += gap, text
        length += len(gap) + len(text)
        if length > LARGEST_TEXT:
            raise TooLarge(
                f"This PDF has more than {LARGEST_TEXT:,} characters of text; split it.", limit=LARGEST_TEXT
            )
    if not blocks:
        raise InvalidInput(
            "This PDF has no text: its pages may be images. Run text recognition (OCR) first.",
            code="no_text",
            pages=len(pdf),
        )
    title = " ".join(pdf.get_metadata_value("Title").split()) or None
    return Document(text="".join(parts), blocks=tuple(blocks), title=title)


def _opened(data: bytes) -> "PdfDocument":
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as why:
        if getattr(why, "err_code", None) == _ENCRYPTED:
            raise InvalidInput(
                "This PDF is encrypted: save it without a password and upload it again.", code="encrypted"
            ) from why
        raise InvalidInput(
            "This PDF cannot be read: it is damaged or not a PDF. Open it in a PDF reader, save a copy, and upload that copy.",
            code="unreadable_document",
            reader_said=str(why),
        ) from why


def _outline(pdf: "PdfDocument") -> dict[int, dict[str, int]]:
    """Return the titles in the outline by page, each with its level from 1."""
    found: dict[int, dict[str, int]] = {}
    for count, mark in enumerate(pdf.get_toc(max_depth=6)):
        if count == _MOST_HEADINGS:
            break
        target = mark.get_dest()
        page = None if target is None else target.get_index()
        title = _folded(mark.get_title())
        if page is not None and title:
            found.setdefault(page + 1, {}).setdefault(title, mark.level + 1)
    return found


def _folded(line: str) -> str:
    return " ".join(line.split()).casefold()


def _text(page: "PdfPage") -> str:
    """Return the text of a page: its lines, with a blank one between paragraphs."""
    text_page = page.get_textpage()
    try:
        return _lines(text_page)
    finally:
        text_page.close()
        page.close()


def _lines(text_page: "PdfTextPage") -> str:
    raw = text_page.get_text_range(errors="replace")
    lines = raw.split("\r\n")
    tops = _tops(text_page, lines) if len(raw) == text_page.count_chars() else []
    usual = _usual(tops)
    text = ""
    for at, line in enumerate(lines):
        begins = bool(tops) and at > 0 and abs(tops[at - 1] - tops[at]) > usual
        text += ("\n\n" if begins else "\n" if at else "") + line.translate(_AS_TEXT).rstrip()
    return text.strip()


def _tops(text_page: "PdfTextPage", lines: list[str]) -> list[float]:
    """Return how high each line is on the page, in points."""
    found: list[float] = []
    at = 0
    for line in lines:
        found.append(text_page.get_charbox(at, loose=True)[3] if line else (found or [0.0])[-1])
        at += len(line) + 2
    return found


def _usual(tops: list[float]) -> float:
    """Return the distance above which two lines belong to different paragraphs."""
    distances = [abs(one - other) for one, other in pairwise(tops) if abs(one - other) > 1]
    return median(distances) * _PARAGRAPH_GAP if distances else 0.0


def _blocks(text: str, headings: dict[str, int], *, page: int, offset: int) -> Iterator[Block]:
    """Yield the blocks of a page: lines in the outline are headings, the text between them is paragraphs."""
    begin = at = 0
    for line in text.splitlines(keepends=True) if headings else ():
        end = at + len(line)
        level = headings.get(_folded(line))
        if level is not None:
            yield from paragraphs(text[begin:at], page=page, offset=offset + begin)
            yield Block(
                kind="heading",
                start=offset + at,
                end=offset + at + len(line.rstrip()),
                level=min(level, 6),
                title=" ".join(line.split()),
                page=page,
            )
            begin = end
        at = end
    yield from paragraphs(text[begin:], page=page, offset=offset + begin)
