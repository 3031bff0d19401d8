"""Readers: what each format's blocks and text are, and what hostile files end in."""

import subprocess
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.documents.files import bomb, pdf
from timemachine.base.errors import InvalidInput, TooLarge
from timemachine.documents import document as limits
from timemachine.documents.decoding import decoded
from timemachine.documents.document import Document
from timemachine.documents.formats import Format, format_of
from timemachine.documents.html import read_html
from timemachine.documents.markdown import read_markdown
from timemachine.documents.passages import parted, passages
from timemachine.documents.pdf import read_pdf
from timemachine.documents.plain_text import read_plain_text
from timemachine.documents.reading import SMALL_TEXT, Limits, read

LIMITS = Limits(seconds=20, megabytes=768)


def shape(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end].strip()) for block in document.blocks]


# --- text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_text_is_read_in_every_unmistakable_encoding(encoding: str) -> None:
    assert decoded("Zoë 🕰".encode(encoding)) == "Zoë 🕰"


@pytest.mark.parametrize(
    "data",
    [b"Zo\xeb", b"\xff\xfe\x00", b"text\x00more", b"\x89PNG\r\n\x1a\n\x00\x00"],
    ids=["latin-1", "odd", "NUL", "PNG"],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        decoded(data)
    assert refused.value.code == "not_text"


def test_blank_lines_part_the_paragraphs_of_a_text() -> None:
    found = read_plain_text(b"one\r\nstill one\r\n \t\r\n\r\ntwo\rtwo again\n\n")
    assert shape(found) == [("paragraph", "one\r\nstill one"), ("paragraph", "two\rtwo again")]
    assert found.text == "one\r\nstill one\r\n \t\r\n\r\ntwo\rtwo again\n\n"


@settings(deadline=None)
@given(st.text(alphabet="a \n\r\t", max_size=60))
def test_the_text_of_a_text_is_the_file(text: str) -> None:
    assert read_plain_text(text.encode()).text == text


# --- Markdown


def test_markdown_has_the_blocks_of_commonmark_and_tables() -> None:
    source = (
        "# The *book* of `rules` [here](x)\n\nA paragraph\nin two lines.\n\n- one\n- two\n\n1. first\n\n```py\n# no heading\n```\n\n"
        "    indented\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nBelow\n-----\n\n> quoted\n> # inside\n\n<div>html</div>\n"
    )
    found = read_markdown(source.encode())
    assert [kind for kind, _ in shape(found)] == (
        ["heading", "paragraph", "list", "list", "code", "code", "table", "heading", "paragraph", "paragraph"]
    )
    assert [(block.level, block.title) for block in found.blocks if block.level] == [
        (1, "The book of rules here"),
        (2, "Below"),
    ]
    assert (found.title, found.text) == ("The book of rules here", source)


@pytest.mark.parametrize(
    ("source", "title", "kinds"),
    [
        (
            "---\ntitle: 'From above'\ntags: [x]\n---\n# Inside\ntext",
            "From above",
            ["code", "heading", "paragraph"],
        ),
        ("---\r\ntags: x\r\n---\r\n# Inside\r\n", "Inside", ["code", "heading"]),
        ("---\n\nno front matter", None, ["paragraph", "paragraph"]),
        ("## Two\n\n# One", "One", ["heading", "heading"]),
        ("", None, []),
    ],
)
def test_the_title_of_markdown(source: str, title: str | None, kinds: list[str]) -> None:
    found = read_markdown(source.encode())
    assert (found.title, [block.kind for block in found.blocks]) == (title, kinds)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["# a", "- b", "c", "", "> d", "```", "|x|", "|-|", "---", "<p>", "\t", "1. e"]),
        max_size=20,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_blocks_of_markdown_follow_each_other(lines: list[str], end: str) -> None:
    found = read_markdown(end.join(lines).encode())
    places = [place for block in found.blocks for place in (block.start, block.end)]
    assert places == sorted(places)
    assert all(0 <= place <= len(found.text) for place in places)


# --- HTML


def test_html_is_read_as_a_browser_reads_it() -> None:
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
def test_what_stands_around_the_text_of_a_page_is_left_out_and_the_text_never(
    page: str, text: str, left_out: tuple[str, ...]
) -> None:
    found = read_html(page.encode())
    assert (found.text, found.left_out) == (text, left_out)
    assert [block.end for block in found.blocks][-1:] == [len(text)]


def test_what_was_left_out_of_a_page_is_told_by_the_process_that_reads_it() -> None:
    assert read(b"<nav>Home</nav><p>A longer text", "html", LIMITS).left_out == ("navigation",)


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
def test_html_comes_in_the_charset_it_declares(page: bytes, text: str) -> None:
    assert read_html(page).text == text


@pytest.mark.parametrize("page", [b"<meta charset=klingon><p>x", b"<meta charset=zip><p>x", b"<p>Zo\xeb"])
def test_html_in_no_known_charset_is_refused(page: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_html(page)
    assert refused.value.code == "not_text"


# --- PDF


def test_a_pdf_has_pages_paragraphs_and_the_headings_of_its_outline() -> None:
    file = pdf(
        [
            ["Retention", "Invoices are kept for ten", "years, then shredded.", "", "", "Ask Zoë (first)."],
            [],
            ["Page three."],
        ],
        title="The  handbook",
        outline=[("retention", 1), ("Not on the page", 3), ("Nowhere", 0)],
    )
    found = read_pdf(file)
    assert found.title == "The handbook"
    assert shape(found) == [
        ("heading", "Retention"),
        ("paragraph", "Invoices are kept for ten\nyears, then shredded."),
        ("paragraph", "Ask Zoë (first)."),
        ("paragraph", "Page three."),
    ]
    assert [block.page for block in found.blocks] == [1, 1, 1, 3]
    assert [(each.title, each.page) for each in passages(found, "The handbook")] == [
        ("The handbook › Retention, page 1", 1),
        ("The handbook › Retention, page 3", 3),
    ]


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (pdf([["secret"]], encrypted=True), "encrypted"),
        (pdf([[], []]), "no_text"),
        (b"%PDF-1.7 and nothing behind it", "unreadable_document"),
    ],
)
def test_a_pdf_that_says_nothing_is_refused_with_the_reason(file: bytes, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_pdf(file)
    assert refused.value.code == code


def test_a_pdf_of_endless_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.documents.pdf.LARGEST_TEXT", 20)
    with pytest.raises(TooLarge):
        read_pdf(pdf([["a line of some length"], ["and another"]]))


def test_an_outline_is_read_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.documents.pdf._MOST_HEADINGS", 1)
    found = read_pdf(pdf([["One", "a", "Two", "b"]], outline=[("One", 1), ("Two", 1)]))
    assert [block.title for block in found.blocks if block.level] == ["One"]


# --- reading within limits


@pytest.mark.parametrize(
    ("data", "format_", "text"),
    [
        (b"plain", "text", "plain"),
        (b"# mark", "markdown", "# mark"),
        (b"<p>page", "html", "page"),
        (pdf([["printed"]]), "pdf", "printed"),
    ],
)
def test_every_format_is_read_within_limits(data: bytes, format_: Format, text: str) -> None:
    assert read(data, format_, LIMITS).text == text


@pytest.mark.parametrize(
    ("data", "format_"), [(b" \n", "text"), (b"\n\n", "markdown"), (b"<p> </p>", "html")]
)
def test_a_file_without_text_is_refused(data: bytes, format_: Format) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(data, format_, LIMITS)
    assert refused.value.code == "no_text"


def test_who_reads_a_strangers_file_knows_no_secret_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "sesame")
    started: list[dict[str, str]] = []
    run = subprocess.run

    def seen(*given: Any, **named: Any) -> Any:
        started.append(named["env"])
        return run(*given, **named)

    monkeypatch.setattr(subprocess, "run", seen)
    assert read(b"<p>x", "html", LIMITS).text == "x"
    (environment,) = started
    assert "SECRET_KEY" not in environment
    assert not {name for name in environment if "URL" in name or "KEY" in name or "TOKEN" in name}


def test_a_refusal_comes_out_of_the_reading_process_as_it_went_in() -> None:
    with pytest.raises(InvalidInput) as refused:
        read(b"\xff\xfe\xff", "markdown", LIMITS)
    assert (refused.value.code, refused.value.facts["byte"]) == ("not_text", 3)


def test_a_file_over_the_limit_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.documents.reading.LARGEST_FILE", 10)
    with pytest.raises(TooLarge):
        read(b"more than ten bytes", "text", LIMITS)
    assert limits.LARGEST_FILE == 32 * 1024 * 1024


def test_a_pdf_that_unpacks_to_hundreds_of_megabytes_ends_clearly() -> None:
    with pytest.raises(TooLarge):
        read(bomb(200), "pdf", Limits(seconds=20, megabytes=320))


def test_a_page_nested_without_end_stops_at_the_time_limit() -> None:
    with pytest.raises(TooLarge) as refused:
        read(b"<div>" * 200_000 + b"deep", "html", Limits(seconds=2, megabytes=768))
    assert refused.value.facts["seconds"] == 2


@pytest.mark.parametrize("text", [b"a\n\n" * 8_000_000, b"?! " * 8_000_000])
def test_a_plain_text_of_endless_pieces_stops_at_the_time_limit(text: bytes) -> None:
    with pytest.raises(TooLarge) as refused:
        read(text, "text", Limits(seconds=1, megabytes=2_000))
    assert refused.value.facts["seconds"] == 1


def test_a_plain_text_of_endless_pieces_stops_at_the_memory_limit() -> None:
    with pytest.raises(TooLarge):
        read(b"a\n\n" * 800_000, "text", Limits(seconds=60, megabytes=120))


def test_the_size_of_a_text_does_not_change_its_passages() -> None:
    words = "\n\n".join(f"Paragraph {number}. It says: Zoë, 😀." for number in range(3_000)).encode()
    found = read(words, "text", LIMITS, name="a.txt")
    assert len(words) > SMALL_TEXT
    assert found == parted(read_plain_text(words), title="", name="a.txt")


@pytest.mark.parametrize(
    ("title", "name", "called"),
    [("Given", "a.md", "Given"), ("", "a.md", "Own"), ("\ud800\n", "", "\ud800\n")],
)
def test_a_file_is_called_as_was_asked_or_as_it_calls_itself(title: str, name: str, called: str) -> None:
    found = read(b"# Own\n\nText.", "markdown", LIMITS, title=title, name=name)
    assert (found.title, found.passages[0].title.startswith(called)) == (called, True)


def test_a_file_of_more_passages_than_a_file_may_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.documents.passages.MOST_PASSAGES", 2)
    assert len(passages(read_markdown(b"# A\n\n# B"), "")) == 2
    with pytest.raises(TooLarge):
        passages(read_markdown(b"# A\n\n# B\n\n# C"), "")


def test_a_reader_that_breaks_is_a_file_that_cannot_be_read() -> None:
    with pytest.raises(InvalidInput) as refused:
        read(b"{}", cast("Format", "papyrus"), LIMITS)
    assert refused.value.code == "unreadable_document"


# --- formats


@pytest.mark.parametrize(
    ("name", "data", "format_"),
    [
        ("notes.txt", b"", "text"),
        ("README.MD", b"", "markdown"),
        ("a.b.html", b"", "html"),
        ("paper.pdf", b"\n\n%PDF-1.4", "pdf"),
        ("paper", b"%PDF-1.4", "pdf"),
        ("paper.txt", b"%PDF-1.4", "pdf"),
        ("about.txt", b"The mark %PDF-", "text"),
        ("lines.jsonl", b"", "jsonl"),
        ("page", b"\xef\xbb\xbf\n<!DOCTYPE html>", "html"),
        ("main.py", b"print()", "text"),
        ("", b"", "text"),
    ],
)
def test_the_format_of_a_file(name: str, data: bytes, format_: str) -> None:
    assert format_of(name, data) == format_


@pytest.mark.parametrize(
    ("name", "data", "program"),
    [
        ("a.docx", b"PK\x03\x04rest", "Word"),
        ("a.DOC", b"\xd0\xcf\x11\xe0rest", "Word"),
        ("a.xlsx", b"PK\x03\x04rest", "Excel"),
        ("a.pptx", b"PK\x03\x04rest", "PowerPoint"),
    ],
)
def test_a_file_of_an_office_program_is_refused_by_its_name(name: str, data: bytes, program: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        format_of(name, data)
    assert refused.value.message == f"{program} files are not taken; save it as PDF, HTML or text."


def test_a_text_that_is_named_like_an_office_file_is_a_text() -> None:
    assert format_of("notes.doc", b"hello") == "text"


def test_what_is_named_a_pdf_has_to_be_one() -> None:
    with pytest.raises(InvalidInput):
        format_of("paper.pdf", b"hello")
