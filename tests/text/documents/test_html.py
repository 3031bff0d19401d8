"""HTML: its blocks as in a browser, its charset, and the page chrome around the text."""

import pytest

from tests.text.documents.blocks import shape
from timemachine.core.pure.errors import InvalidInput
from timemachine.text.pure.documents.html import read_html


def test_html_is_parsed_like_in_a_browser() -> None:
    page = """<!doctype html><html><head><title> The
      house </title><style>p{}</style></head><body><nav><a href=x>Home</a></nav>lead <b>in</b>
      <h1>Rules &amp; <i>ways</i></h1><p>First   line<br>second<p>Next paragraph<script>evil()</script>
      <ul><li>one<li>two <ul><li>inside</ul></ul><dl><dt>term<dd>meaning</dl><pre>
  a
    b
</pre><table><caption>Sums</caption><tr><th>x<th>y<tr><td>1<td><p>2</p></table><div>tail<!-- no --><svg><text>no</text></svg></div>"""
    found = read_html(page.encode())
    assert shape(found) == [
        ("paragraph", "lead in"),
        ("heading", "Rules & ways"),
        ("paragraph", "First line\nsecond"),
        ("paragraph", "Next paragraph"),
        ("list", "one\ntwo\ninside"),
        ("list", "term\nmeaning"),
        ("code", "a\n    b"),
        ("table", "Sums\nx | y\n1 | 2"),
        ("paragraph", "tail"),
    ]
    assert (found.title, found.left_out) == ("The house", ("navigation",))


@pytest.mark.parametrize(
    ("page", "text", "left_out"),
    [
        (
            "<nav>Home</nav><main><h1>T</h1>text</main><footer>c</footer>",
            "T\n\ntext",
            ("navigation", "footer"),
        ),
        (
            "<header>Site</header><main>text<aside>tip</aside></main><aside>ad</aside>",
            "text\n\ntip",
            ("header", "asides"),
        ),
        ("<header><h1>T</h1><nav>n</nav></header><main>text</main>", "T\n\ntext", ("navigation",)),
        ("<header>Who wrote it</header><p>text", "Who wrote it\n\ntext", ()),
        ("<article><header>by A</header>text<footer>notes</footer></article>", "by A\n\ntext\n\nnotes", ()),
        ("<p>text that is longer<div role='Navigation x'>menu</div>", "text that is longer", ("navigation",)),
        ("<nav role=list>text</nav><p>more", "text\n\nmore", ()),
        ("<div role=main>text</div><div role=search>s</div>", "text", ("search",)),
        ("<div role=region>text<aside>tip</aside></div>", "text\n\ntip", ()),
        (
            "<nav><a>Home</a><p>never closed, and the whole page follows",
            "Home\n\nnever closed, and the whole page follows",
            (),
        ),
        ("<nav>Home<article>text</article></nav>", "Home\n\ntext", ()),
        ("<nav><a>All there is</a></nav>", "All there is", ()),
        ("<main></main><nav>All there is</nav>", "All there is", ()),
        ("<p>text<form>Search: <input><button>Go</button></form>", "text", ("controls of forms",)),
        (
            "<form id=aspnet><div>text<label>l</label><textarea>t</textarea></div></form>",
            "text",
            ("controls of forms",),
        ),
        (
            "<p>text <a role=button>Copy</a><h2><button>How do I pay?</button></h2>",
            "text\n\nHow do I pay?",
            ("controls of forms",),
        ),
        ("<p>text<dialog>Cookies</dialog><dialog open>Read</dialog>", "text\n\nRead", ("closed dialogs",)),
    ],
)
def test_page_chrome_is_left_out_and_the_text_never_is(
    page: str, text: str, left_out: tuple[str, ...]
) -> None:
    found = read_html(page.encode())
    assert (found.text, found.left_out) == (text, left_out)
    assert [block.end for block in found.blocks][-1:] == [len(text)]


def test_a_heading_inside_a_table_is_a_heading() -> None:
    found = read_html(
        b"<table><tr><td><h2>Where</h2>text of it</table><pre> \n</pre><ul><li><div>in a part</div></ul>"
    )
    assert shape(found) == [("heading", "Where"), ("table", "text of it"), ("list", "in a part")]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<meta charset=iso-8859-1><p>Zoë".encode("latin-1"), "Zoë"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1252"><p>\x80 5', "€ 5"),
        (b"<meta charset=iso-8859-1><p>\x80 5 \x93so\x94", "€ 5 “so”"),
        (b"<meta charset=latin1><p>a\x81b", "a\x81b"),
        (b"<meta charset=us-ascii><p>Zo\xeb", "Zoë"),
        ("<meta charset=iso-8859-9><p>İş €".encode("cp1254"), "İş €"),
        ("<meta charset=gb2312><p>朱镕基".encode("gbk"), "朱镕基"),
        ("<meta charset=gbk><p>㐀".encode("gb18030"), "㐀"),
        ("<meta charset=shift_jis><p>①髙".encode("cp932"), "①髙"),
        ("<meta charset=euc-kr><p>똠방각하".encode("cp949"), "똠방각하"),
        ("<meta charset='utf-16'><p>Zoë".encode(), "Zoë"),
        ("<p>Zoë".encode("utf-16"), "Zoë"),
        (b"<p>one</i><b></p></div>two<<<", "one\n\ntwo<<<"),
        (b"", ""),
        (b"<frameset><frame></frameset>", ""),
    ],
)
def test_html_is_decoded_with_its_declared_charset(page: bytes, text: str) -> None:
    assert read_html(page).text == text


@pytest.mark.parametrize("page", [b"<meta charset=klingon><p>x", b"<meta charset=zip><p>x", b"<p>Zo\xeb"])
def test_html_in_an_unknown_charset_is_refused(page: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_html(page)
    assert refused.value.code == "not_text"
