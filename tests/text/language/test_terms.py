import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.language.statement import Statement
from timemachine.text.pure.language.terms import Term


def terms(text: str) -> tuple[Term, ...]:
    return Statement(text).terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The deal closed for $2B.", ["deal", "clos", "#2000000000"]),
        ("A deal closes for 2 billion", ["deal", "clos", "#2000000000"]),
        ("5% is not 5", ["#5 %", "~not", "#5"]),
        ("on May 5, 2026 or in May", ["#date 05", "#date 05"]),
        ("one of `a.b()` never", ["a.b", "~not"]),
        ("not only here", ["onli"]),
        ("see ab.py and 3", ["see", "ab.py", "#3"]),
        ("", []),
    ],
)
def test_terms_with_the_same_meaning_have_the_same_key(text: str, expected: list[str]) -> None:
    assert [term.key for term in terms(text)] == expected


def test_a_term_knows_whether_it_opens_a_clause() -> None:
    assert [(term.key, term.opens) for term in terms("rain, wind and hail because cold")] == [
        ("rain", False),
        ("wind", True),
        ("hail", True),
        ("cold", True),
    ]


@settings(deadline=None)
@given(st.text(max_size=80))
def test_terms_are_in_order_and_do_not_overlap(text: str) -> None:
    found = terms(text)
    places = [place for term in found for place in (term.start, term.end)]
    assert places == sorted(places)


def test_a_statement_leaves_out_the_attribution_to_its_source() -> None:
    statement = Statement("According to the documents, prices did not rise.", 7)
    assert statement.keys == ("pric", "~not", "~amount")
    assert statement.topic == ("pric", "~amount")
    assert (statement.start, statement.end) == (7, 55)


def test_a_statement_has_its_numbers_names_and_polarity() -> None:
    statement = Statement("Then Acme did not pay $5.")
    assert [name.text for name in statement.names] == ["Acme"]
    assert [number.text for number in statement.numbers] == ["$5"]
    assert len(statement.polarity.negations) == 1
