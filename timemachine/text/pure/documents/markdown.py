"""Markdown: blocks by CommonMark and tables by GitHub, as lines of the source."""

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from timemachine.text.pure.documents.decoding import decoded
from timemachine.text.pure.documents.document import Block, Document, Kind

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_END: Final = r"(?>\r\n|\n|\r)"
_LINE: Final = re.compile(_END)
_FRONT_MATTER: Final = re.compile(rf"---[ \t]*{_END}(?:[^\r\n]*{_END})*?---[ \t]*(?=[\r\n]|\Z)")
_TITLE: Final = re.compile(r"^title:([^\r\n]*)", re.MULTILINE)
_KINDS: Final[dict[str, Kind]] = {
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
}


def read_markdown(data: bytes) -> Document:
    """Read a Markdown file. Its text is the decoded file.

    The title is that of the front matter, or the first heading of level 1.

    Raises:
        InvalidInput: The file cannot be decoded.
    """
    text = decoded(data)
    front = _FRONT_MATTER.match(text)
    start = front.end() if front else 0
    # line ends in place of the front matter, so that line numbers stay
    body = "\n" * len(_LINE.findall(text, 0, start)) + _LINE.sub("\n", text[start:])
    tokens = _structure().parse(body)
    starts = [0, *(found.end() for found in _LINE.finditer(text)), len(text)]
    blocks = tuple(
        _block(token, tokens[at + 1 : at + 2], starts)
        for at, token in enumerate(tokens)
        if token.level == 0 and token.nesting >= 0 and token.map is not None
    )
    if front is not None:
        blocks = (Block(kind="code", start=0, end=front.end()), *blocks)
    headings = (block.title for block in blocks if block.level == 1 and block.title)
    return Document(text=text, blocks=blocks, title=_front_title(front) or next(headings, None))


@cache
def _structure() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


@cache
def _words() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _block(token: "Token", inside: list["Token"], starts: list[int]) -> Block:
    first, after = token.map or (0, 0)
    kind = _KINDS.get(token.type, "paragraph")
    start, end = starts[first], starts[min(after, len(starts) - 1)]
    if kind != "heading":
        return Block(kind=kind, start=start, end=end, marked=kind == "table")
    return Block(kind=kind, start=start, end=end, level=int(token.tag[1:]), title=_plain(inside[0].content))


def _plain(written: str) -> str:
    """Return the words of a heading without markup."""
    (inline,) = _words().parseInline(written)
    text = "".join("\n" if each.type == "softbreak" else each.content for each in inline.children or [])
    return " ".join(text.split())


def _front_title(front: re.Match[str] | None) -> str | None:
    found = None if front is None else _TITLE.search(front.group())
    return None if found is None else found.group(1).strip().strip("\"'") or None
