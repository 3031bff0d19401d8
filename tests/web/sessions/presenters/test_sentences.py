from typing import Any

import pytest
from django.template import Context

from timemachine.web.sessions.presenters.sentences import Sentence, counted, sentences
from timemachine.web.sessions.presenters.steps import supported_text

ANSWER = "One is so. Two is not."
RECORDED: list[dict[str, Any]] = [
    {"text": "One is so.", "start": 0, "end": 10, "grounded": True, "frame": 66, "score": 0.9},
    {"text": "Two is not.", "start": 11, "end": 22, "grounded": False, "reason": "no_support"},
]


def test_the_sentences_add_up_to_the_complete_answer() -> None:
    found = sentences(ANSWER, {"sentences": RECORDED})
    assert "".join(each.text for each in found) == ANSWER
    assert [each.grounded for each in found] == [True, None, False]
    assert [each.words for each in found if each.grounded is not None] == [
        "supported by frame 66",
        "not supported: no support",
    ]


def test_the_text_around_the_sentences_is_kept() -> None:
    found = sentences(f"{ANSWER} And more.", {"sentences": RECORDED[1:]})
    assert [each.text for each in found] == ["One is so. ", "Two is not.", " And more."]


@pytest.mark.parametrize(
    "moved",
    [
        {"start": 1},
        {"start": None},
        {"end": 500},
        {"start": 10, "end": 0},
        {"text": "Something else."},
    ],
)
def test_sentences_that_are_not_in_the_answer_are_listed_alone(moved: dict[str, Any]) -> None:
    recorded = [{**RECORDED[0], **moved}, RECORDED[1]]
    found = sentences(ANSWER, {"sentences": recorded})
    assert [each.text for each in found] == [str(each["text"]) for each in recorded]


def test_overlapping_sentences_are_listed_alone() -> None:
    assert len(sentences(ANSWER, {"sentences": [RECORDED[1], RECORDED[0]]})) == 2


@pytest.mark.parametrize(
    "grounding",
    [None, {}, {"sentences": None}, {"sentences": []}, {"sentences": ["odd"]}, {"sentences": 5}, "odd", [1]],
)
def test_without_recorded_sentences_there_are_none(grounding: Any) -> None:
    assert list(sentences(ANSWER, grounding)) == []


def test_without_an_answer_the_recorded_sentences_are_listed() -> None:
    assert [each.text for each in sentences(None, {"sentences": RECORDED})] == ["One is so.", "Two is not."]


def test_support_without_a_frame_and_doubt_without_a_reason_are_described_too() -> None:
    assert Sentence(text="", grounded=True).words == "supported"
    assert Sentence(text="", grounded=False).words == "not supported"


@pytest.mark.parametrize(
    ("recorded", "why"),
    [
        ({"reason": "number"}, "it has a number that is in no passage or differs in the passage"),
        ({"reason": "no_support", "missing": ["moon"]}, "no passage says this"),
        (
            {"reason": "no_support", "missing": []},
            "its words are in the passages, but not next to each other",
        ),
        ({"reason": "no_support", "missing": [], "frame": 3}, "the passage says the opposite"),
        (
            {"reason": "no_support", "missing": [], "frame": 3, "swapped": False},
            "the passage has something different",
        ),
        ({"reason": "name", "missing": [], "frame": 3}, "the passage does not have this name"),
        (
            {"reason": "name", "missing": [], "frame": 3, "swapped": True},
            "the passage says the opposite",
        ),
        (
            {"reason": "no_support", "missing": ["moon"], "partly": True},
            "only part of it is in the passages",
        ),
        ({"reason": "no_support"}, "no passage says this"),
        ({"reason": "else"}, "not supported"),
    ],
)
def test_an_unsupported_sentence_says_why(recorded: dict[str, Any], why: str) -> None:
    (found,) = sentences(
        "A.", {"sentences": [{"text": "A.", "start": 0, "end": 2, "grounded": False, **recorded}]}
    )
    assert (found.why, found.number) == (why, 1)


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        ({"reason": "name", "swapped": True}, "not supported: opposite"),
        ({"reason": "no_support", "partly": True}, "partly supported"),
    ],
)
def test_the_mark_of_a_sentence_says_that_it_is_partly_supported_or_the_opposite(
    recorded: dict[str, Any], words: str
) -> None:
    (found,) = sentences(None, {"sentences": [{"text": "A.", "grounded": False, **recorded}]})
    assert found.words == words


@pytest.mark.parametrize(
    ("grounding", "words"),
    [
        ({"grounded_sentences": 1, "sentence_count": 1}, "1 of 1 sentence supported"),
        ({"grounded_sentences": 0, "sentence_count": 2, "sentences": ["odd"]}, "0 of 2 sentences supported"),
        (
            {"grounded_sentences": 0, "sentence_count": 1, "sentences": [{"partly": True}]},
            "0 of 1 sentence supported, 1 partly",
        ),
    ],
)
def test_the_supported_sentences_are_counted_in_words(grounding: dict[str, Any], words: str) -> None:
    assert counted(grounding) == words


def test_a_sentence_has_the_span_it_rests_on_and_the_missing_words() -> None:
    recorded = {"passage_start": 3, "passage_end": 8, "missing": ["moon", 5]}
    found = sentences(ANSWER, {"sentences": [{**RECORDED[0], **recorded}]})
    assert (found[0].passage_start, found[0].passage_end, found[0].missing) == (3, 8, ("moon", "5"))
    assert [each.number for each in found] == [1, None]


@pytest.mark.parametrize(
    ("recorded", "support", "mark"),
    [
        ({"grounded": True, "frame": 3}, "supported", ">✓#3<"),
        ({"grounded": False, "reason": "no_support", "partly": True}, "partly", ">◐ partly<"),
        ({"grounded": False, "reason": "name"}, "unsupported", ">✗ name<"),
        ({"grounded": False, "reason": "negation", "swapped": True}, "contradicted", ">✗ opposite<"),
        ({"grounded": False, "reason": "negation", "frame": 3}, "contradicted", ">✗ opposite<"),
        ({"grounded": False, "reason": "negation"}, "unsupported", ">✗ negation<"),
    ],
)
def test_each_level_of_support_has_its_own_style_and_symbol(
    recorded: dict[str, Any], support: str, mark: str
) -> None:
    (sentence,) = sentences(None, {"sentences": [{"text": "One."} | recorded]})
    assert sentence.support == support
    shown = supported_text(Context(), [sentence], in_answer=True)
    assert f'class="sentence {support}"' in shown
    assert mark in shown


def test_a_number_of_the_question_is_named_as_that() -> None:
    recorded = {
        "text": "It costs 20 hours.",
        "grounded": False,
        "reason": "number",
        "frame": 1,
        "missing": ["20 hours"],
    }
    (asked,) = sentences(None, {"sentences": [recorded]}, "What if I cancel twenty hours before?")
    assert asked.asked == ("20 hours",)
    assert asked.why == "the passage does not say this of the number in the question"
    (unasked,) = sentences(None, {"sentences": [recorded]}, "What if I cancel?")
    assert (unasked.asked, unasked.why) == ((), "the passage does not have this number")
