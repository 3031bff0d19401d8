"""Wordings: the text of an error without the parts that vary each time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.memory.patterns.pure.wording import LONGEST, NEGATION, wording_of, words_of


def text(raw: str, tool: str | None = None) -> str | None:
    found = wording_of(raw, tool)
    return found.text if found else None


@pytest.mark.parametrize(
    ("raw", "reads"),
    [
        ("the total price is 305, but paid 255", "the total price is <number>, but paid <number>"),
        ("it took -1,250.5 ms or 98% of it all", "it took <number> ms or <number> of it all"),
        ("not enough seats on flight HAT229", "not enough seats on flight <id>"),
        ("no balance left in gift_card_8190333 today", "no balance left in gift_card_<id> today"),
        (
            "session 018f6e4a-1c2b-7d3e-8f90-a1b2c3d4e5f6 was not found here",
            "session <id> was not found here",
        ),
        ("the object at 0x7ffdeadbeef is no longer valid", "the object at <id> is no longer valid"),
        (
            "the file '/srv/data/in.csv' could not be opened by this reader",
            "the file <quoted> could not be opened by this reader",
        ),
        ("the reader cannot open file /srv/data/in.csv", "the reader cannot open file <path>"),
        (
            "the parser stopped in src/parser.js:42 without a word",
            "the parser stopped in <path> without a word",
        ),
        (
            "no route to https://example.org/a?b=1 from this machine",
            "no route to <address> from this machine",
        ),
        ("connection to 10.0.0.7:5432 was refused by peer", "connection to <address> was refused by peer"),
        ("mail to ada@example.org did not arrive there", "mail to <address> did not arrive there"),
        (
            "the lease that began 2026-11-23T13:14:15Z is over now",
            "the lease that began <time> is over now",
        ),
        ("the train of 13:45 was cancelled this morning", "the train of <time> was cancelled this morning"),
        ('the field "name" must not be empty ever', "the field <quoted> must not be empty ever"),
        ("the mail of [erased: e-mail] did not arrive", "the mail of <withheld> did not arrive"),
        ("white   space\n and an ending dot vanish here.", "white space and an ending dot vanish here"),
    ],
)
def test_variable_parts_are_replaced(raw: str, reads: str) -> None:
    assert text(raw) == reads


@pytest.mark.parametrize(
    "raw",
    [
        "request failed with status code 404",
        "process ended with exit code 137",
        "exitcode: 2 (execution failed)",
        "[Errno 13] permission was denied by system",
        "server answered HTTP 503 without a body",
        "error TS2345 in the argument of this call",
        "ORA-00942: table or view does not exist",
        "duplicate key broke a rule, SQLSTATE 23505",
    ],
)
def test_codes_that_distinguish_errors_are_kept(raw: str) -> None:
    assert text(raw) == raw


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("KeyError: 'name'", "KeyError: 'price'"),
        ("No module named 'numpy'", "No module named 'pandas'"),
        ("File not found: /srv/a.csv", "File not found: /srv/b.csv"),
        ("status code 404", "status code 500"),
    ],
)
def test_a_short_text_keeps_its_quotes_and_names(one: str, other: str) -> None:
    assert text(one) != text(other)


def test_a_text_of_one_word_becomes_a_wording_with_its_tool() -> None:
    assert text("Timeout: 30", "fetch") == "fetch: Timeout: <number>"
    assert text("Timeout after 30", "fetch") == "Timeout after <number>"
    assert text("Error: timeout", "fetch") != text("Error: timeout", "build")


def test_a_text_without_words_has_no_wording() -> None:
    assert [wording_of(each) for each in ("", "12", "…", "Error:", "<number>", "[erased: field]")] == [
        None
    ] * 6


def test_all_negations_are_equal() -> None:
    for raw in ("it does not fit here", "it doesn't fit here", "it cannot fit here"):
        assert words_of(raw) == (NEGATION, "fit")


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_different_numbers_give_the_same_wording(one: int, other: int) -> None:
    raw = "the total price is {} but only {} was paid of it"
    assert text(raw.format(one, other)) == text(raw.format(other, one))


@given(st.uuids(), st.from_regex(r"/[a-z]{1,9}/[a-z]{1,9}\.txt", fullmatch=True))
def test_different_ids_and_paths_give_the_same_wording(id_: object, path: str) -> None:
    assert text(f"job {id_} could not read {path} while it ran") == (
        "job <id> could not read <path> while it ran"
    )


@given(st.text(max_size=300))
def test_any_text_has_a_storable_wording_or_none(raw: str) -> None:
    found = wording_of(raw, "tool")
    if found is not None:
        assert found.words
        assert len(found.text) <= 20 * LONGEST
        assert "\x00" not in found.text
        assert found == wording_of(raw, "tool")


def test_texts_that_differ_only_in_values_have_the_same_digest() -> None:
    wordings = [wording_of(f"the total price is {price}") for price in (305, 255)]
    digests = {each.digest for each in wordings if each}
    assert len(digests) == 1
