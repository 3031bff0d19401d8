"""Write the pieces of a payload as HTML, within a number of elements for the whole page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

from django.template import Context
from django.utils.html import escape, format_html, format_html_join, strip_tags
from django.utils.safestring import SafeString

from timemachine.core.pure import safe_text
from timemachine.core.pure.numbers import counted
from timemachine.web.payloads import markdown
from timemachine.web.payloads.pure.pieces import (
    Fields,
    Line,
    Message,
    Part,
    Patch,
    Picture,
    Piece,
    Plain,
    Prose,
    Table,
    Terminal,
    Todos,
)
from timemachine.web.payloads.pure.shapes import Reading, reading
from timemachine.web.redaction_marks import drawing
from timemachine.web.template_library import register

ELEMENTS: Final = 900
"""Elements that the payloads of one page have together. What is beyond is plain text, one element each."""
_BUDGET: Final = "elements_left"
_LONGEST_INLINE: Final = 120
_ELEMENT_OF: Final = {"-": "del", "+": "ins", " ": "span", "@": "i"}
_SIGNS: Final = {"-": "−", "+": "+", " ": " ", "@": ""}
_STATES: Final = {
    "completed": "☑",
    "done": "☑",
    "in_progress": "◐",
    "in-progress": "◐",
    "cancelled": "☒",
}


@register.filter
def reading_of(head: Any, reads: str = "plain") -> Reading:
    """Return what the beginning of a payload is."""
    return reading(head.media_type, head.text, cut=head.cut, reads=reads)


@register.filter
def reading_of_text(text: str, reads: str = "plain") -> Reading:
    """Return what a text is."""
    return reading("text/plain", text, reads=reads)


@register.simple_tag(takes_context=True)
def rendered(context: Context, found: Reading, images: str = "") -> SafeString:
    """Return a payload as HTML. `images` is the address of its images, without their numbers; if empty, they are only named."""
    left = context.dicts[0].get(_BUDGET, ELEMENTS)
    renderer = _Renderer(_draw(context), left, images, context.get("withholds_in"))
    html = renderer.all(found.pieces)
    context.dicts[0][_BUDGET] = renderer.left
    return html


def _draw(context: Context) -> Callable[[str], SafeString]:
    marked = drawing(context)
    return lambda text: marked(safe_text.shown(text))


@dataclass(slots=True)
class _Renderer:
    """Renders pieces. `left` is the number of elements that the page may still have.

    Without its markup, a text can have matches of a redaction profile that the recorded text does not have (`a**@**b.org`).
    `withholds_in` returns whether it has any; such a text is shown as it was recorded. None: nothing is withheld.
    """

    draw: Callable[[str], SafeString]
    left: int
    images: str
    withholds_in: Callable[[str], bool] | None

    def all(self, several: Sequence[Piece]) -> SafeString:
        written: list[str] = []
        for at, each in enumerate(several):
            if self.left <= 0 and at:
                rest = counted(len(several) - at, "further part")
                return SafeString(
                    "".join([*written, format_html('<p class="cut">{} not shown. See Raw.</p>', rest)])
                )
            written.append(self.one(each))
        return SafeString("".join(written))

    def one(self, piece: Piece) -> str:
        self.left -= 1
        return _RENDERERS[type(piece)](self, piece)

    def text(self, piece: Plain) -> str:
        return self._plain(piece.text)

    def _plain(self, text: str) -> str:
        return format_html('<pre class="text">{}</pre>', self.draw(text))

    def prose(self, piece: Prose) -> str:
        text = piece.text
        found = markdown.as_html(safe_text.shown(text), self.draw, self.left)
        if found is None or (self.withholds_in and self.withholds_in(unescape(strip_tags(found[0])))):
            return format_html('<pre class="text prose">{}</pre>', self.draw(text))
        html, elements = found
        self.left -= elements
        return format_html('<div class="text prose markdown">{}</div>', html)

    def terminal(self, piece: Terminal) -> str:
        text = "".join(each for each, _ in piece.runs)
        if len(piece.runs) > self.left or (self.withholds_in and self.withholds_in(text)):
            return self._plain(piece.text)
        self.left -= len(piece.runs)
        return format_html(
            '<pre class="text terminal">{}</pre>',
            format_html_join("", "{}", ((self._run(*run),) for run in piece.runs)),
        )

    def _run(self, text: str, styles: tuple[str, ...]) -> str:
        if not styles:
            return self.draw(text)
        return format_html('<span class="{}">{}</span>', " ".join(styles), self.draw(text))

    def patch(self, piece: Patch) -> str:
        lines = piece.lines[: max(self.left, 1)]
        self.left -= len(lines) + 3
        more = len(piece.lines) - len(lines)
        return format_html(
            '<figure class="patch"><figcaption><bdi class="mono">{}</bdi>{}</figcaption><pre class="text">{}</pre>{}</figure>',
            self.draw(piece.path) if piece.path else "patch",
            format_html(' <span class="quiet">{}</span>', self.draw(piece.does)) if piece.does else "",
            format_html_join("", "{}", ((self._lines(each),) for each in lines)),
            format_html('<p class="cut">{} not shown. See Raw.</p>', counted(more, "further change"))
            if more
            else "",
        )

    def _lines(self, line: Line) -> str:
        sign = _SIGNS[line.sign]
        text = "\n".join(sign + each for each in line.text.split("\n"))
        return format_html("<{0}>{1}\n</{0}>", _ELEMENT_OF[line.sign], self.draw(text))

    def todos(self, piece: Todos) -> str:
        self.left -= 3 * len(piece.items)
        items = (
            (each.state.replace("_", " "), _STATES.get(each.state, "☐"), self.draw(each.text), each.state)
            for each in piece.items
        )
        rows = format_html_join(
            "",
            '<li class="{3}"><span role="img" aria-label="{0}" title="{0}">{1}</span><span>{2}</span></li>',
            items,
        )
        return format_html('<ol class="todos">{}</ol>', rows)

    def picture(self, piece: Picture) -> str:
        if not self.images:
            return self._plain(f"{piece.media_type}, not shown here")
        width, height = piece.shape or (None, None)
        size = format_html(' width="{}" height="{}"', width, height) if width and height else ""
        about = f"{piece.media_type}{f', {width} × {height} pixels' if size else ''}"
        self.left -= 2
        return format_html(
            '<figure class="picture"><img src="{}{}" alt="Image of the record: {}" loading="lazy" decoding="async"{}>'
            "<figcaption>{}</figcaption></figure>",
            self.images,
            piece.number,
            about,
            size,
            about,
        )

    def table(self, piece: Table) -> str:
        cells = (len(piece.rows) + 1) * (len(piece.columns) + 1)
        rows = (
            piece.rows[: max(1, (self.left - 5) // (len(piece.columns) + 1))]
            if cells > self.left
            else piece.rows
        )
        self.left -= (len(rows) + 1) * (len(piece.columns) + 1)
        more = piece.more + len(piece.rows) - len(rows)
        head = format_html_join("", '<th scope="col">{}</th>', ((self.draw(name),) for name in piece.columns))
        body = format_html_join("", "<tr>{}</tr>", ((self._row(row),) for row in rows))
        return format_html(
            '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table class="table">'
            "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>{}",
            head,
            body,
            format_html('<p class="cut">{} not shown. See Raw.</p>', counted(more, "further row"))
            if more
            else "",
        )

    def _row(self, row: Sequence[str | None]) -> SafeString:
        return format_html_join(
            "", "<td>{}</td>", (("–" if cell is None else self.draw(cell),) for cell in row)
        )

    def fields(self, piece: Fields) -> str:
        rows = SafeString(
            "".join(self._field(*each) for each in ((f.path, f.pieces, f.literal) for f in piece.fields))
        )
        return format_html('<dl class="leaves">{}</dl>', rows)

    def _field(self, path: str, pieces: Sequence[Piece], literal: bool) -> str:
        self.left -= 2
        name = format_html("<dt>{}</dt>", self.draw(path)) if path else ""
        only = pieces[0] if len(pieces) == 1 else None
        if isinstance(only, Plain | Prose) and "\n" not in only.text and len(only.text) <= _LONGEST_INLINE:
            return format_html(
                "{}<dd{}>{}</dd>",
                name,
                SafeString(' class="literal"' if literal else ""),
                self.draw(only.text),
            )
        return format_html('{}<dd class="whole">{}</dd>', name, self.all(pieces))

    def part(self, piece: Part) -> str:
        name = format_html(' <bdi class="mono">{}</bdi>', self.draw(piece.name)) if piece.name else ""
        self.left -= 2
        return format_html(
            '<div class="part"><p class="by">{}{}</p>{}</div>',
            self.draw(piece.words),
            name,
            self.all(piece.pieces),
        )

    def message(self, piece: Message) -> str:
        self.left -= 1
        return format_html(
            '<div class="said {}"><p class="by">{}</p>{}</div>',
            piece.role,
            escape(piece.role),
            self.all(piece.pieces),
        )


_RENDERERS: Final[dict[type, Callable[[_Renderer, Any], str]]] = {
    Plain: _Renderer.text,
    Prose: _Renderer.prose,
    Terminal: _Renderer.terminal,
    Patch: _Renderer.patch,
    Todos: _Renderer.todos,
    Picture: _Renderer.picture,
    Table: _Renderer.table,
    Fields: _Renderer.fields,
    Part: _Renderer.part,
    Message: _Renderer.message,
}
