"""Markdown as HTML that fetches nothing and goes nowhere unseen.

CommonMark with tables and struck text, by markdown-it. Off are HTML, entities and reference definitions: every character that is
shown is in the text. Links are those with http(s) and show their target; images are links, never fetched. Headings are
paragraphs, because the headings of the page are ours.
"""

import re
from collections.abc import Callable, MutableMapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from timemachine.web.redaction_marks import MARK

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

LONGEST: Final = 40_000
"""Characters of the longest text that is read as Markdown."""
MOST_SIGNS: Final = 2_000
"""A text with more signs that may begin markup is not read as Markdown: their number can square the time."""
_SIGNS: Final = frozenset("[]*_`<")
_PLAIN: Final = re.compile(
    r"(?![-+=#>]|\d+[.)])[^\s\[\]*_`<>|~\\](?:[^\n\r\0\[\]*_`<>|~\\]*[^\s\0\[\]*_`<>|~\\])?"
)
"""One line in which nothing can be markup: most messages of an agent. It is a paragraph, and needs no reader."""
_OFF: Final = ("html_block", "html_inline", "entity", "reference", "lheading")
_ON: Final = ("table", "strikethrough")
_HEADING_LEVELS: Final = 3
_SCHEMES: Final = ("https://", "http://")

Draw = Callable[[str], str]


def as_html(text: str, draw: Draw, most: int) -> tuple[SafeString, int] | None:
    """Return a text as HTML and its number of elements; None if it is too long or has more than `most` of them.

    `draw` escapes a text and marks what is withheld in it.
    """
    if len(text) > LONGEST or sum(map(text.count, _SIGNS)) > MOST_SIGNS:
        return None
    if most and _PLAIN.fullmatch(text):
        return SafeString(f"<p>{draw(text)}</p>\n"), 1
    reader, env = _reader(), {"draw": draw, "targets": []}
    tokens = reader.parse(text, env)
    elements = sum(_elements(token) for token in tokens)
    if elements > most:
        return None
    return SafeString(reader.renderer.render(tokens, reader.options, env)), elements


def _elements(token: "Token") -> int:
    inner = sum(_elements(each) for each in token.children or ())
    return inner + (token.nesting >= 0 and token.type not in ("text", "inline")) + (token.type == "fence")


@cache
def _reader() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    found = MarkdownIt("commonmark", {"html": False, "breaks": True})
    found.enable(_ON).disable(_OFF)
    found.inline.ruler.before("link", "redaction_mark", _read_mark)
    found.validateLink = _is_link  # type: ignore[method-assign]
    found.normalizeLink = _unchanged  # type: ignore[method-assign, assignment]
    found.normalizeLinkText = _unchanged  # type: ignore[method-assign]
    for name, rule in _RULES.items():
        found.add_render_rule(name, rule)
    return found


def _is_link(url: str) -> bool:
    return url.lower().startswith(_SCHEMES) and not _MARKS.search(url) and " " not in url


def _unchanged(link: str) -> str:
    return link


_MARKS: Final[re.Pattern[str]] = MARK


def _read_mark(state: "StateInline", silent: bool) -> bool:
    """Read a mark of withheld text as text, so that no link or emphasis begins in it."""
    found = _MARKS.match(state.src, state.pos) if state.src[state.pos] == "[" else None
    if found is None:
        return False
    if not silent:
        state.pending += found[0]
    state.pos = found.end()
    return True


Rule = Callable[[Any, "Sequence[Token]", int, Any, MutableMapping[str, Any]], str]


def _text(_: Any, tokens: "Sequence[Token]", at: int, _options: Any, env: MutableMapping[str, Any]) -> str:
    return str(env["draw"](tokens[at].content))


def _inline_code(
    _: Any, tokens: "Sequence[Token]", at: int, _options: Any, env: MutableMapping[str, Any]
) -> str:
    return f"<code>{env['draw'](tokens[at].content)}</code>"


def _block_code(
    _: Any, tokens: "Sequence[Token]", at: int, _options: Any, env: MutableMapping[str, Any]
) -> str:
    return f"<pre><code>{env['draw'](tokens[at].content)}</code></pre>"


def _link_open(
    _: Any, tokens: "Sequence[Token]", at: int, _options: Any, env: MutableMapping[str, Any]
) -> str:
    target = str(tokens[at].attrs["href"])
    is_named = tokens[at + 1].content != target or tokens[at + 2].type != "link_close"
    env["targets"].append(target if is_named else "")
    return format_html('<a href="{}" rel="noreferrer noopener nofollow">', target)


def _link_close(
    _: Any, _tokens: "Sequence[Token]", _at: int, _options: Any, env: MutableMapping[str, Any]
) -> str:
    target = env["targets"].pop()
    return "</a>" + (f' <span class="target">({escape(target)})</span>' if target else "")


def _image(_: Any, tokens: "Sequence[Token]", at: int, _options: Any, env: MutableMapping[str, Any]) -> str:
    source, words = str(tokens[at].attrs["src"]), env["draw"](tokens[at].content or "no description")
    return format_html(
        '<span class="target">image, not fetched: {} (<a href="{}" rel="noreferrer noopener nofollow">{}</a>)</span>',
        SafeString(words),
        source,
        source,
    )


def _heading_open(
    _: Any, tokens: "Sequence[Token]", at: int, _options: Any, _env: MutableMapping[str, Any]
) -> str:
    return f'<p class="heading level-{min(int(tokens[at].tag[1]), _HEADING_LEVELS)}">'


def _plainly(html: str) -> Rule:
    return lambda *_: html


_RULES: Final[dict[str, Rule]] = {
    "text": _text,
    "code_inline": _inline_code,
    "code_block": _block_code,
    "fence": _block_code,
    "link_open": _link_open,
    "link_close": _link_close,
    "image": _image,
    "heading_open": _heading_open,
    "heading_close": _plainly("</p>"),
    "table_open": _plainly(
        '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table class="table">'
    ),
    "table_close": _plainly("</table></div>"),
    "th_open": _plainly('<th scope="col">'),  # without the style of its alignment, which the CSP forbids
    "td_open": _plainly("<td>"),
}
