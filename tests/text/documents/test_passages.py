"""Passages: what they contain, where they end, and how they are titled."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.documents.document import Block, Document
from timemachine.text.pure.documents.markdown import read_markdown
from timemachine.text.pure.documents.passages import MOST, TARGET, Passage, passages
from timemachine.text.pure.documents.plain_text import read_plain_text

SENTENCE = "The quick brown fox jumps over the lazy dog and comes back. "

LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "",
                "# One",
                "## Two",
                "### Three",
                "- item",
                "| a | b |",
                "```",
                "    code",
                "---",
                "\t",
                "\u2003",
            ]
        ),
        st.text(alphabet="ab. \u00a0é!?", max_size=40),
        st.integers(1, 40).map(lambda times: SENTENCE * times),
        st.integers(1, 3000).map(lambda length: "x" * length),
    ),
    max_size=25,
)


def solid(text: str) -> str:
    return "".join(text.split())


def of_markdown(text: str, title: str = "Book") -> list[Passage]:
    return list(passages(read_markdown(text.encode()), title))


@settings(deadline=None)
@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_passages_contain_every_solid_character_once_and_in_order(lines: list[str], end: str) -> None:
    text = end.join(lines)
    for document in (read_markdown(text.encode()), read_plain_text(text.encode())):
        found = passages(document, "Book")
        assert "".join(solid(each.text) for each in found) == solid(text)
        assert all(one.end <= other.start for one, other in pairwise(found))


@settings(deadline=None)
@given(LINES)
def test_a_passage_is_a_non_blank_run_of_the_text_within_the_size_limit(lines: list[str]) -> None:
    document = read_markdown("\n".join(lines).encode())
    for each in passages(document, "Book"):
        assert document.text[each.start : each.end] == each.text
        assert each.text == each.text.strip() != ""
        assert len(each.text) <= MOST


@settings(deadline=None)
@given(LINES)
def test_a_heading_appears_only_at_the_start_of_a_passage(lines: list[str]) -> None:
    document = read_markdown("\n".join(lines).encode())
    headings = [block for block in document.blocks if block.kind == "heading"]
    for each in passages(document, "Book"):
        inside = [block for block in headings if each.start < block.start < each.end]
        between = document.text[each.start : inside[-1].start] if inside else ""
        opening = [block for block in headings if each.start <= block.start < each.end]
        assert solid(between) == solid("".join(document.text[b.start : b.end] for b in opening[:-1]))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 30),
            st.integers(1, 30),
            st.sampled_from(["heading", "paragraph", "code", "table", "list"]),
        ),
        max_size=12,
    ),
    st.text(alphabet="ab \n.", max_size=300),
)
def test_no_text_is_lost_whatever_the_blocks(shape: list[tuple[int, int, str]], text: str) -> None:
    blocks, at = [], 0
    for gap, length, kind in shape:
        start = min(at + gap, len(text))
        at = min(start + length, len(text))
        blocks.append(Block(kind=kind, start=start, end=at))  # type: ignore[arg-type]  # a kind of block
    found = passages(Document(text=text, blocks=tuple(blocks)), "")
    assert "".join(solid(each.text) for each in found) == solid(text)


def test_complete_paragraphs_are_packed_up_to_the_target() -> None:
    paragraph = SENTENCE * 5
    found = of_markdown("\n\n".join([paragraph] * 6))
    assert [len(each.text) for each in found] == [3 * len(paragraph) + 3, 3 * len(paragraph) + 3]
    assert all(len(each.text) <= TARGET for each in found)


def test_a_paragraph_that_is_too_long_is_split_between_sentences() -> None:
    found = of_markdown(SENTENCE * 40)
    assert len(found) == 3
    assert all(each.text.endswith("comes back.") for each in found)


def test_line_breaks_inside_a_paragraph_are_not_split_points() -> None:
    wrapped = re.sub(r"(.{60,75}) ", r"\1\n", SENTENCE * 40)
    assert all(each.text.endswith("comes back.") for each in of_markdown(wrapped))


def test_a_sentence_that_is_too_long_is_split_between_words_and_a_word_anywhere() -> None:
    found = of_markdown("word " * 500 + "y" * 3000)
    assert {each.text[-4:] for each in found[:3]} == {"word", "yyyy"} or found[0].text.endswith("word")
    assert all(len(each.text) <= MOST for each in found)


@pytest.mark.parametrize(
    "block",
    [
        "```\n" + "line of code\n" * 60 + "```",
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 90,
        "- an item of it\n" * 50,
    ],
    ids=["code", "table", "list"],
)
def test_a_block_that_fits_is_not_split(block: str) -> None:
    before = SENTENCE * 10
    source = f"{before}\n\n{block}"
    found = [source[each.start : each.end] for each in of_markdown(source)]
    assert found == [before.strip(), block.strip()]


def test_code_that_does_not_fit_is_split_between_lines() -> None:
    found = of_markdown("```\n" + "a = first(of, several)\n" * 200 + "```")
    assert all(each.text.splitlines()[-1] in {"a = first(of, several)", "```"} for each in found)
    assert len(found) > 3


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (
            "lead\n\n# One\na\n\n## Two\nb\n\n### Three\nc\n\n## Four\nd",
            ["Book", "Book › One", "Book › One › Two", "Book › One › Two › Three", "Book › One › Four"],
        ),
        ("# Book\na\n\n## Two\nb", ["Book", "Book › Two"]),
        ("# One\n\n## Two\n\ntext", ["Book › One › Two"]),
        ("# One\n\n# Two\n\ntext", ["Book › One", "Book › Two"]),
        ("## Low\na\n\n# High\nb", ["Book › Low", "Book › High"]),
        ("#\n\ntext", ["Book"]),
        (f"# {'n' * 200}\ntext", [f"Book › {'n' * 119}…"]),
    ],
)
def test_a_passage_is_titled_by_its_headings(text: str, titles: list[str]) -> None:
    assert [each.title for each in of_markdown(text)] == titles


def test_a_document_without_a_title_uses_only_its_headings() -> None:
    assert [each.title for each in of_markdown("a\n\n# One\nb", title="")] == ["", "One"]


def test_a_heading_stays_with_its_paragraph_even_if_that_has_to_be_split() -> None:
    found = of_markdown("# A heading\n\n" + SENTENCE * 20)
    assert found[0].text.startswith("# A heading\n\nThe quick")


def test_a_page_ends_a_passage() -> None:
    blocks = (
        Block(kind="paragraph", start=0, end=3, page=1),
        Block(kind="paragraph", start=5, end=8, page=2),
    )
    found = passages(Document(text="one\n\ntwo", blocks=blocks), "Book")
    assert [(each.text, each.page) for each in found] == [("one", 1), ("two", 2)]
