"""Markdown: its blocks, its headings and its title."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.text.documents.blocks import shape
from timemachine.text.pure.documents.markdown import read_markdown


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
def test_the_title_of_markdown_is_found(source: str, title: str | None, kinds: list[str]) -> None:
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
