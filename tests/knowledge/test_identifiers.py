"""Identifiers in a text, and the short forms under which they are also found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.knowledge.pure.identifiers import MOST, identifiers

CASES = [
    ("Root cause in parser.js:42.", ["parser.js:42", "parser.js"]),
    (
        "see src/app/parser.js:42:7",
        ["src/app/parser.js:42:7", "app/parser.js", "parser.js:42:7", "parser.js"],
    ),
    ("It says ERR_CONN_RESET!", ["err_conn_reset"]),
    ("exit 0x80070005", ["0x80070005"]),
    ("ORA-00942: no such table", ["ora-00942"]),
    (
        "row 0198c2a4-7f3a-7c1e-9d2b-112233445566 of 10.0.0.1",
        ["0198c2a4-7f3a-7c1e-9d2b-112233445566", "10.0.0.1"],
    ),
    ("invoice INV-2024-0042 of 2024-11-20", ["inv-2024-0042", "2024-11-20"]),
    ("call fetchData() or `null check`", ["fetchdata", "null check"]),
    ("https://example.com/docs/", ["https://example.com/docs/", "example.com/docs"]),
]


@pytest.mark.parametrize(("text", "named"), CASES)
def test_an_identifier_and_its_short_forms_are_found(text: str, named: list[str]) -> None:
    assert set(named) <= set(identifiers(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Invoices are kept for ten years.",
        "a boundary-layer at 3.5 or 1,000 m in the 2nd test",
        "the /static/ pressure",
        "40mm and 5kg",
    ],
)
def test_ordinary_words_and_numbers_are_not_identifiers(text: str) -> None:
    assert identifiers(text) == ()


def test_the_number_of_identifiers_is_limited() -> None:
    assert len(identifiers(" ".join(f"ID-{n}" for n in range(2 * MOST)))) == MOST


def test_an_overlong_name_is_not_an_identifier() -> None:
    assert identifiers("x" * 300 + "_1") == ()


@given(st.text())
def test_identifiers_are_distinct_and_not_empty(text: str) -> None:
    found = identifiers(text)
    assert len(found) == len(set(found))
    assert all(found)
