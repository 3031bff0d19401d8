"""Grouping of wordings into patterns: words may be added, not exchanged, and the order of arrival does not matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.memory.patterns.pure.grouping import grouped, joins
from timemachine.memory.patterns.pure.wording import Wording, wording_of

WORDS = ("gate", "table", "order", "lamp", "river", "stone", "paper", "cloud", "not", "to", "from", "wheel")


def wording(raw: str) -> Wording:
    found = wording_of(raw)
    assert found is not None
    return found


def same_group(*texts: str) -> bool:
    return len(set(grouped({text: wording(text) for text in texts}).values())) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gift card balance is not enough", "not enough balance in payment method gift_card_8190333"),
        ("connection to database refused by host", "the connection to the database was refused by the host"),
        (
            "certificate of the upstream server has expired",
            "Error: the certificate of the upstream server has already expired",
        ),
    ],
)
def test_a_longer_wording_joins_the_shorter_one_whose_words_it_contains(one: str, other: str) -> None:
    assert same_group(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # a word replaced by another
        (
            "the invoice of the customer could not be printed",
            "the invoice of the customer could not be posted",
        ),
        ("How long are invoices of customers kept by us?", "How long are contracts of customers kept by us?"),
        # another code
        (
            "request to the upstream server failed with status code 404",
            "request to the upstream server failed with status code 500",
        ),
        # negated
        ("the balance of the gift card is enough", "the balance of the gift card is not enough"),
        # the same words in reverse order
        ("cannot convert string value to integer", "cannot convert integer value to string"),
        ("message from gateway to worker was lost", "message from worker to gateway was lost"),
        # too few words
        ("payment refused", "payment refused because the card has expired"),
        # much longer than the shorter one
        (
            "disk quota of project exceeded",
            "disk quota of project exceeded while the nightly archive of old invoices was written",
        ),
    ],
)
def test_unrelated_errors_stay_separate(one: str, other: str) -> None:
    assert not same_group(one, other)


def test_a_wording_that_matches_two_patterns_joins_neither_and_does_not_link_them() -> None:
    first = "gate table order lamp river"
    second = "gate table order lamp stone"
    both = "gate table order lamp river stone"
    found = grouped({each: wording(each) for each in (both, second, first)})
    assert found == {each: each for each in (first, second, both)}


def test_two_wordings_are_not_joined_through_a_third() -> None:
    short = "gate table order lamp"
    middle = "gate table order lamp river stone"
    long = "gate table order lamp river stone paper cloud"
    found = grouped({each: wording(each) for each in (long, middle, short)})
    assert found == {short: short, middle: short, long: long}


sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@given(st.lists(sentences, max_size=12, unique=True), st.randoms())
def test_the_order_of_arrival_changes_nothing(texts: list[str], chance: object) -> None:
    wordings = {text: found for text in texts if (found := wording_of(text))}
    shuffled = list(wordings)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    assert grouped({text: wordings[text] for text in shuffled}) == grouped(wordings)


@given(st.lists(sentences, max_size=12, unique=True))
def test_each_wording_joins_itself_or_a_shorter_one_directly(texts: list[str]) -> None:
    wordings = {text: each for text in texts if (each := wording_of(text))}
    found = grouped(wordings)
    for text, pattern in found.items():
        assert found[pattern] == pattern
        assert text == pattern or joins(wordings[pattern], wordings[text])


def test_equal_wordings_of_two_words_join() -> None:
    assert joins(wording("lamp broken"), wording("lamp broken"))
    assert not joins(wording("lamp broken"), wording("lamp broken again"))
