"""HTML as a browser would read it, however malformed: the text in blocks, without navigation and other page chrome."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, cast

from timemachine.core.pure.errors import InvalidInput
from timemachine.text.pure.documents.decoding import decoded
from timemachine.text.pure.documents.document import Block, Document, Kind
from timemachine.text.pure.documents.landmarks import Landmarks
from timemachine.text.pure.language.words import word_set

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_CHARSET: Final = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{1,40})", re.IGNORECASE
)
_KNOWN: Final = re.compile(
    r"(?:iso-8859-(?:[1-9]|1[0345])|windows-125[0-8]|(?:us-)?ascii|koi8-[ru]|gbk|gb2312|gb18030|big5|shift_jis|euc-(?:jp|kr)|latin-?1)\Z"
)
# How browsers read these labels (WHATWG Encoding Standard): pages declare them but use the larger character set.
_READ_AS: Final = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "iso-8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
_WHERE_CHARSET: Final = 4_096
_BLANKS: Final = re.compile(r"[ \t\n\r\f]+")
_SPACES: Final = re.compile(r" {2,}")
_LINE_END: Final = re.compile(r" ?\n[ \n]*")
_SKIPPED: Final = word_set(
    "head script style template noscript svg iframe object canvas audio video map select datalist -comment"
)
_LISTS: Final = frozenset(("ul", "ol", "dl", "menu"))
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_ROWS: Final = frozenset(["li", "dt", "dd", "tr", "caption"])
_CELLS: Final = frozenset(("td", "th"))
_BLOCKS: Final = word_set(
    """
    address article aside blockquote body center details dialog div fieldset figcaption figure footer form header
    hgroup hr legend main nav p search section summary
    """
)


def read_html(data: bytes) -> Document:
    """Read an HTML file: the text of its body.

    The title is the `<title>`. The charset is that of the byte order mark, or the declared one, or UTF-8.

    Raises:
        InvalidInput: The file cannot be decoded.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(decoded(data, otherwise=_declared(data)))
    title = tree.css_first("head > title")
    words = " ".join(title.text().split()) if title is not None else ""
    root = cast("LexborNode", tree.body or tree.root)  # the parser always makes one
    around = Landmarks(root)
    builder = _built(_walk(root, around))
    if not builder.length and around.found:  # all of it is page chrome: then it is the text
        return _built(_walk(root)).document(words or None)
    return builder.document(words or None, left_out=tuple(around.found))


def _built(nodes: Iterable[tuple["LexborNode", bool]]) -> "_Builder":
    builder = _Builder()
    for node, enters in nodes:
        builder.meet(node, enters=enters)
    builder.flush()
    return builder


def _declared(data: bytes) -> str:
    """Return the declared charset.

    Raises:
        InvalidInput: The charset is unknown.
    """
    found = _CHARSET.search(data, 0, _WHERE_CHARSET)
    if found is None:
        return "utf-8"
    name = found.group(1).decode().lower()
    if name.startswith("utf"):  # a file whose ASCII can be read is UTF-8, whatever it declares
        return "utf-8"
    if not _KNOWN.match(name):
        raise InvalidInput(
            f"This page declares the charset {name!r}, which is unknown; save it as UTF-8 and upload it again.",
            code="not_text",
        )
    return _READ_AS.get(name, name)


def _walk(root: "LexborNode", around: Landmarks | None = None) -> Iterator[tuple["LexborNode", bool]]:
    """Yield every node in order, when it is entered (True) and when it is left, without recursion, for any depth.

    Skipped elements and page chrome are yielded, but nothing inside them.
    """
    above: list[LexborNode] = []
    node = root
    while True:
        yield node, True
        skipped = node.tag in _SKIPPED or (around is not None and around.leaves_out(node))
        child = None if skipped else node.first_child
        if child is not None:
            above.append(node)
            if around is not None:
                around.enter(node)
            node = child
            continue
        yield node, False
        while above and node.next is None:
            node = above.pop()
            if around is not None:
                around.leave(node)
            yield node, False
        sibling = node.next if above else None
        if sibling is None:
            return
        node = sibling


class _Builder:
    """Assembles the text, block by block, with a blank line between."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.blocks: list[Block] = []
        self.words: list[str] = []
        self.around: list[Kind] = []  # the enclosing lists and tables
        self.verbatim = 0
        self.cells = 0

    def meet(self, node: "LexborNode", *, enters: bool) -> None:
        """Process a node that is entered or left."""
        tag = node.tag or ""
        if tag == "-text":
            if enters:
                text = node.text_content or ""
                self.words.append(text if self.verbatim else _BLANKS.sub(" ", text))
        elif tag in _SKIPPED:
            return
        elif tag == "pre":
            self.flush()
            self.verbatim += 1 if enters else -1
        elif tag in _HEADINGS:
            self.flush(heading=None if enters else _HEADINGS[tag])
        elif tag in _LISTS or tag == "table":
            self._container("table" if tag == "table" else "list", enters=enters)
        else:
            self._layout(tag, enters=enters)

    def document(self, title: str | None, left_out: tuple[str, ...] = ()) -> Document:
        return Document(text="".join(self.parts), blocks=tuple(self.blocks), title=title, left_out=left_out)

    def _container(self, kind: Kind, *, enters: bool) -> None:
        if enters:
            if not self.around:
                self.flush()
            self.around.append(kind)
            return
        if len(self.around) == 1:
            self.flush()
        self.around.pop()

    def _layout(self, tag: str, *, enters: bool) -> None:
        if tag == "br":
            self.words.append("\n" if enters else "")
        elif tag in _ROWS:
            self.words.append("\n")
            self.cells = 0
        elif tag in _CELLS:
            if enters and self.cells:
                self.words.append(" | ")
            self.cells += enters
        elif tag in _BLOCKS and self.around:
            self.words.append("\n" if self.around[-1] == "list" else " ")
        elif tag in _BLOCKS:
            self.flush()

    def flush(self, *, heading: int | None = None) -> None:
        """Finish a block, a heading of this level if given."""
        text = self._text()
        self.words = []
        if not text:
            return
        gap = "\n\n" if self.length else ""
        start = self.length + len(gap)
        self.parts += gap, text
        self.length = start + len(text)
        title = " ".join(text.split()) if heading else None
        self.blocks.append(
            Block(kind=self._kind(heading), start=start, end=self.length, level=heading, title=title)
        )

    def _text(self) -> str:
        text = "".join(self.words)
        if self.verbatim:
            return text.strip("\r\n").rstrip() if text.strip() else ""
        return _LINE_END.sub("\n", _SPACES.sub(" ", text)).strip()

    def _kind(self, heading: int | None) -> Kind:
        if heading:
            return "heading"
        if self.verbatim:
            return "code"
        return self.around[-1] if self.around else "paragraph"
