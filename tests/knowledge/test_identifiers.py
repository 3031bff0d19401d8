"""Which identifiers a text names, and by which short forms they are found too."""

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
def test_an_identifier_and_its_short_forms_are_named(text: str, named: list[str]) -> None:
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
def test_ordinary_words_and_numbers_name_nothing(text: str) -> None:
    assert identifiers(text) == ()


def test_very_many_identifiers_are_bounded() -> None:
    assert len(identifiers(" ".join(f"ID-{n}" for n in range(2 * MOST)))) == MOST


def test_what_is_too_long_for_a_name_names_nothing() -> None:
    assert identifiers("x" * 300 + "_1") == ()


@given(st.text())
def test_every_identifier_is_named_once_and_none_is_empty(text: str) -> None:
    found = identifiers(text)
    assert len(found) == len(set(found))
    assert all(found)
