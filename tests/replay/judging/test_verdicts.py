"""Reading a judge's reply: every invalid reply gets a sentence that says why."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.errors import ModelFailed
from timemachine.replay.judging.pure.replies import (
    VERDICTS,
    SentenceVerdict,
    agrees,
    counted_as,
    read_verdicts,
)

PASSAGES = ("Retention\nInvoices are kept\n  for ten years.", "Travel\nTrains go second class.")


def entry(number: Any = 1, **more: Any) -> dict[str, Any]:
    return {"number": number, "verdict": "supported", "passage": 1, "quote": "kept for ten years"} | more


def answer(*entries: Any) -> str:
    return json.dumps({"sentences": list(entries)})


def only(raw: str) -> SentenceVerdict:
    return read_verdicts(raw, 1, PASSAGES)[0]


WRONG: list[tuple[str, str]] = [
    ("", "it is not the requested JSON"),
    ("Yes, all of it is supported.", "it is not the requested JSON"),
    (answer(entry())[:-3], "it is not the requested JSON"),
    (f"Here you are: {answer(entry())}", "it is not the requested JSON"),
    (f"{answer(entry())} I hope this helps.", "it is not the requested JSON"),
    (f"Sure!\n```json\n{answer(entry())}\n```", "it is not the requested JSON"),
    ('{"sentences": [], "sentences": []}', "Duplicate JSON key 'sentences'"),
    ("[]", "it has no list of `sentences`"),
    ("{}", "it has no list of `sentences`"),
    ('{"sentences": {"1": "supported"}}', "it has no list of `sentences`"),
    (answer("supported"), "it has no list of `sentences`"),
    (answer(), "it leaves out sentence 1"),
    (answer(entry(), entry()), "it judges sentence 1 twice"),
    (answer(entry(), entry(2)), "there is no sentence 2; there are 1"),
    (answer(entry(0)), "there is no sentence 0"),
    (answer(entry("1")), "there is no sentence '1'"),
    (answer(entry(number=True)), "there is no sentence True"),
    (answer(entry(1.0)), "there is no sentence 1.0"),
    (answer(entry(None)), "there is no sentence None"),
    (answer(entry(verdict="maybe")), "has the verdict 'maybe'"),
    (answer(entry(verdict=None)), "has the verdict None"),
    (answer(entry(verdict=["supported"])), "has the verdict"),
    (answer(entry(passage=3)), "names passage 3; there are 2"),
    (answer(entry(passage="1")), "names passage '1'"),
    (answer(entry(quote=7)), "the quote of sentence 1 is not text"),
]


@pytest.mark.parametrize(("raw", "why"), WRONG)
def test_an_invalid_reply_is_refused_with_the_reason(raw: str, why: str) -> None:
    with pytest.raises(ModelFailed) as failed:
        read_verdicts(raw, 1, PASSAGES)
    assert failed.value.code == "judge_not_understood"
    assert why in failed.value.message


QUOTES: list[tuple[dict[str, Any], int | None]] = [
    ({}, 1),
    ({"quote": "Invoices are kept for ten years."}, 1),
    ({"quote": "invoices are kept"}, None),
    ({"quote": "kept for nine years"}, None),
    ({"quote": "Trains go second class."}, 2),
    ({"quote": "Retention Invoices"}, 1),
    ({"passage": None}, 1),
    ({"passage": 2, "quote": "."}, 2),
    ({"quote": None}, None),
    ({"quote": " \n"}, None),
]


@pytest.mark.parametrize(("more", "place"), QUOTES)
def test_a_quote_is_located_in_the_passages(more: dict[str, Any], place: int | None) -> None:
    assert only(answer(entry(**more))).quote_in == place


def test_a_blank_quote_is_no_quote() -> None:
    assert only(answer(entry(quote="  "))).quote is None


@pytest.mark.parametrize(
    "dressed", ["{}", "\n {} \n", "```json\n{}\n```", "```\n{}\n```", "```JSON \n{}\n```"]
)
def test_a_fence_around_the_json_is_ignored(dressed: str) -> None:
    raw = dressed.replace("{}", answer(entry(verdict="not_found", passage=None, quote=None)))
    assert only(raw) == SentenceVerdict(
        number=1, verdict="not_found", passage=None, quote=None, quote_in=None
    )


def test_sentences_are_returned_in_order() -> None:
    found = read_verdicts(answer(entry(3), entry(1), entry(2, reason="more than was asked")), 3, PASSAGES)
    assert [each.number for each in found] == [1, 2, 3]


def test_all_missing_sentences_are_named() -> None:
    with pytest.raises(ModelFailed, match="leaves out sentence 1, 3"):
        read_verdicts(answer(entry(2)), 3, PASSAGES)


@given(
    st.text(max_size=200)
    | st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5).map(json.dumps)
)
def test_no_reply_causes_an_unexpected_error(raw: str) -> None:
    with pytest.raises(ModelFailed):
        read_verdicts(raw, 1, PASSAGES)


@given(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=6))
def test_a_written_reply_is_read_back(verdicts: list[str]) -> None:
    raw = answer(*(entry(number, verdict=verdict) for number, verdict in enumerate(verdicts, 1)))
    assert [each.verdict for each in read_verdicts(raw, len(verdicts), PASSAGES)] == verdicts


@pytest.mark.parametrize(
    ("verdict", "grounded", "same"),
    [
        ("supported", True, True),
        ("supported", False, False),
        ("contradicted", True, False),
        ("contradicted", False, True),
        ("not_found", True, False),
        ("not_found", False, True),
        ("supported", None, None),
        ("quote_not_found", True, None),
    ],
)
def test_agreement_compares_support(verdict: str, grounded: bool | None, same: bool | None) -> None:
    assert agrees(verdict, grounded) is same


@pytest.mark.parametrize(
    ("verdict", "quote", "quote_in", "counted"),
    [
        ("supported", "ten years", 1, "supported"),
        ("supported", None, None, "supported"),
        ("supported", "twelve years", None, "quote_not_found"),
        ("contradicted", "twelve years", None, "quote_not_found"),
        ("not_found", "twelve years", None, "not_found"),
    ],
)
def test_a_verdict_counts_unless_its_quote_does_not_exist(
    verdict: str, quote: str | None, quote_in: int | None, counted: str
) -> None:
    assert counted_as(verdict, quote, quote_in) == counted
