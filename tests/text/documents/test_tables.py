"""Markdown tables: the stored text is what they say, and its location is still that in the source."""

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.text.pure.documents.html import read_html
from timemachine.text.pure.documents.markdown import read_markdown
from timemachine.text.pure.documents.passages import passages, split_document

TABLE = "| Plan | Seats |\n|------|:-----:|\n| Basic | 3 |\n| Team | 25 |"
AS_HTML = "<table><tr><th>Plan<th>Seats<tr><td>Basic<td>3<tr><td>Team<td>25</table>"


def test_a_markdown_table_has_the_same_text_as_an_html_table() -> None:
    (found,) = passages(read_markdown(TABLE.encode()), "Plans")
    (same,) = passages(read_html(AS_HTML.encode()), "Plans")
    assert found.text == same.text == "Plan | Seats\nBasic | 3\nTeam | 25"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_passage_with_a_table_refers_to_its_location_in_the_source(end: str) -> None:
    source = f"Before.\n\n{TABLE}\n\nAfter. | Not a row |".replace("\n", end)
    (found,) = passages(read_markdown(source.encode()), "Plans")
    assert (found.start, found.end) == (0, len(source))
    assert found.text == f"Before.{end}{end}Plan | Seats\nBasic | 3\nTeam | 25{end}{end}After. | Not a row |"


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("| a\\|b | c |", "a|b | c"),
        ("| a | | c |", "a |  | c"),
        ("x | y", "x | y"),
        ("| | last |", "| last"),
        ("| first | |", "first |"),
        ("| | |", None),
        ("| - | - |", None),
    ],
)
def test_a_row_is_its_cells(row: str, text: str | None) -> None:
    (found,) = passages(read_markdown(f"| g | h | i |\n|---|---|---|\n{row}\n".encode()), "")
    assert found.text == ("g | h | i" if text is None else f"g | h | i\n{text}")


def test_a_long_table_is_split_between_rows_and_no_part_is_a_row_of_dashes() -> None:
    rows = [f"| row {number} | {'words ' * 8}|" for number in range(100)]
    head = f"| {'head ' * 230}| b |\n|---|---|\n"
    source = head + "\n".join(rows)
    found = passages(read_markdown(source.encode()), "")
    assert len(found) > 2
    assert not any("---" in each.text or each.text.startswith("|") for each in found)
    assert all(f"row {number} |" in " ".join(each.text for each in found) for number in range(len(rows)))
    for each in found:
        first = each.text.split(" | ")[0]
        assert first in source[each.start : each.end]


def test_a_table_of_empty_cells_is_not_a_passage_and_not_text() -> None:
    empty = "|  |  |\n|---|---|\n|  |  |\n"
    (found,) = split_document(
        read_markdown(f"{empty}\n# Plans\n\nThere is one.\n".encode()), title="", name="plans.md"
    ).passages
    assert found.text == "# Plans\n\nThere is one."
    with pytest.raises(InvalidInput, match="no text in this file"):
        split_document(read_markdown(empty.encode()), title="", name="plans.md")


def test_code_that_looks_like_a_table_is_unchanged() -> None:
    source = f"```\n{TABLE}\n```"
    (found,) = passages(read_markdown(source.encode()), "")
    assert found.text == source
