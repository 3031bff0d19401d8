"""Parsing of search queries."""

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.search.pure.query import LONGEST, MOST_CLAUSES, Clause, parse


def clauses(text: str) -> list[list[str]]:
    return [
        [("-" if each.negated else "") + (f'"{each.text}"' if each.quoted else each.text) for each in group]
        for group in parse(text).groups
    ]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("one two", [["one", "two"]]),
        ('"null check" -staging', [['"null check"', "-staging"]]),
        ('-"null check" one', [['-"null check"', "one"]]),
        ("one or two OR three", [["one"], ["two"], ["three"]]),
        ("or one or", [["one"]]),
        ('"or" one', [['"or"', "one"]]),
        ("- -- one !!", [["one"]]),
        ('one "never closed', [["one", '"never closed']]),
    ],
)
def test_words_phrases_exclusions_and_alternatives_are_parsed(text: str, groups: list[list[str]]) -> None:
    expected = [
        [
            each + ('"' if each.lstrip("-").startswith('"') and not each.endswith('"') else "")
            for each in group
        ]
        for group in groups
    ]
    assert clauses(text) == expected


@pytest.mark.parametrize("text", ["parser.js:42", "ERR_CONN_RESET", "src/parser.js:42", "fetchData()"])
def test_an_identifier_is_looked_up_unsplit(text: str) -> None:
    [[clause]] = parse(text).groups
    assert clause.identifier is not None
    assert clause.binds


def test_a_plain_word_is_not_an_identifier_and_requires_nothing() -> None:
    assert parse("timeout").groups == ((Clause(text="timeout"),),)
    assert parse("timeout").binding == ()
    assert parse('"ERR_CONN_RESET was seen"').groups[0][0].identifier is None


def test_semantic_search_is_restricted_only_if_every_alternative_is() -> None:
    assert parse('"a b" or c').binding == ()
    assert [len(group) for group in parse('"a b" x or c -d').binding] == [1, 1]
    assert parse('"a b" -c or d').words == "a b d"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Enter a word"),
        ("  \t", "Enter a word"),
        ('"" - !', "Enter a word"),
        ("-this", "only excludes words"),
        ("one or -two", "only excludes words"),
        ("x" * (LONGEST + 1), "the limit is 1,000"),
        ("x " * (MOST_CLAUSES + 1), "more than 50 words"),
    ],
)
def test_an_unsearchable_query_is_refused_with_a_hint(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as refusal:
        parse(text)
    assert refusal.value.code == "unknown_search"
