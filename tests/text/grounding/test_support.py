import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.grounding.passages import Passage
from timemachine.text.pure.grounding.schemas import GroundingOut
from timemachine.text.pure.grounding.support import ground
from timemachine.text.pure.language.refusal import NO_ANSWER

DEAL = "Acme Corp announced on March 3, 2021 that it had completed the acquisition of Beta Ltd for $2 billion in cash. The deal had been under review by regulators since 2019. Chief executive Jane Doe said the combined company would employ 12,000 people."
BETA = "Beta Ltd, founded in 1998 in Oslo, makes industrial sensors. Its revenue was $310 million in 2020, up 12% from the year before."
SENTENCES = [
    "The deal closed on Friday.",
    "It was not for $2 billion.",
    "Acme did nothing before May 5, 2020!",
    "1. See parser.js:42 for more.",
    "日本は美しい。",
    "No approval was given by NATO.",
]


def grounded(answer: str, *texts: str) -> GroundingOut:
    return ground(answer, [Passage(frame=frame, text=text) for frame, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("answer", "label", "reason"),
    [
        ("Acme completed its acquisition of Beta for $2 billion in March 2021.", "HIGH", None),
        ("Regulators had been reviewing the deal since 2019.", "HIGH", None),
        ("Beta was founded in 1998 in Oslo and makes industrial sensors.", "HIGH", None),
        ("The combined company will employ 12,000 people, according to Jane Doe.", "HIGH", None),
        ("$2B according to the documents", "HIGH", None),
        ("Beta's revenue rose 12% to $310 million in 2020.", "HIGH", None),
        ("Acme bought Beta for $2B in cash.", "HIGH", None),
        ("Beta's revenue fell 12% to $310 million in 2020.", "LOW", "negation"),
        ("Acme Corp had not completed the acquisition of Beta Ltd.", "LOW", "negation"),
        ("Revenue was $320 million in 2020.", "LOW", "number"),
        ("Its revenue was $2 billion in 2020.", "LOW", "number"),
        ("The deal had been under review since 1998.", "LOW", "number"),
        ("John Smith said the combined company would employ 12,000 people.", "LOW", "name"),
        ("Jane Doe, founded in 1998 in Oslo, makes industrial sensors.", "LOW", "name"),
        ("The moon is made of cheese.", "LOW", "no_support"),
        ("Bananas.", "LOW", "no_support"),
        ("Regulators liked strawberries.", "LOW", "no_support"),
    ],
)
def test_an_answer_has_the_support_of_its_passages(answer: str, label: str, reason: str | None) -> None:
    found = grounded(answer, DEAL, BETA)
    assert (found.label, found.sentences[0].reason) == (label, reason)


@pytest.mark.parametrize(
    ("answer", "passage", "reason"),
    [
        (
            "The deal did not close and was for 9 billion.",
            "The deal closed and was for 2 billion.",
            "negation",
        ),
        (
            "The deal did not close and was for 2 billion.",
            "The deal closed and was for 2 billion.",
            "negation",
        ),
        ("Acme acquired Beta.", "In 2020 Beta acquired Acme.", "name"),
        ("Gamma acquired Beta in 2020.", "In 2020 Acme acquired Beta.", "name"),
    ],
)
def test_an_answer_that_contradicts_the_passage_is_low(answer: str, passage: str, reason: str) -> None:
    found = grounded(answer, passage)
    assert found.label == "LOW"
    assert found.has_warning
    assert (found.sentences[0].reason, found.sentences[0].grounded, found.sentences[0].frame) == (
        reason,
        False,
        0,
    )


def test_the_same_statement_in_the_passive_voice_contradicts_nothing() -> None:
    assert grounded("Beta was acquired by Acme.", "In 2020 Acme acquired Beta.").sentences[0].grounded


@settings(deadline=None)
@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), st.permutations(SENTENCES))
def test_sentences_quoted_from_the_passages_are_fully_supported(
    quotes: list[str], passages: list[str]
) -> None:
    found = grounded("\n".join(quotes), " ".join(passages[:3]), "\n".join(passages[3:]))
    assert (found.score, found.label) == (1.0, "HIGH")
    assert found.grounded_sentences == found.sentence_count == len(quotes)


@settings(deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_any_answer_is_scored_and_its_sentences_have_correct_offsets(answer: str, texts: list[str]) -> None:
    found = grounded(answer, *texts)
    assert found.score is None or 0 <= found.score <= 1
    assert (found.score is None) == (found.sentence_count == 0) == (found.label is None)
    for sentence in found.sentences:
        assert answer[sentence.start : sentence.end] == sentence.text
        assert (sentence.score is None) == (sentence.grounded is None)
        assert (sentence.reason is not None) == (sentence.grounded is False)
    assert found == grounded(answer, *texts)


def test_a_supported_sentence_refers_to_its_frame_and_the_sentence_in_it() -> None:
    (sentence,) = grounded("Beta makes industrial sensors.", DEAL, BETA).sentences
    assert sentence.frame == 1
    assert (
        BETA[sentence.passage_start : sentence.passage_end]
        == "Beta Ltd, founded in 1998 in Oslo, makes industrial sensors."
    )


def test_the_closer_of_two_matches_is_the_supporting_one() -> None:
    passage = "The deal did not close in May. The deal closed in June."
    assert grounded("So the deal closed in June.", passage).sentences[0].grounded
    assert (
        grounded("So the deal closed.", "The deal did not close.", "Yet the deal closed.").sentences[0].frame
        == 1
    )


def test_clauses_may_be_supported_by_different_passages_but_one_clause_may_not() -> None:
    passages = ("Acme earned 5 million.", "Beta earned 7 million.")
    assert grounded("Acme earned 5 million while Beta earned 7 million.", *passages).label == "HIGH"
    assert grounded("Beta earned 5 million.", *passages).label != "HIGH"


def test_one_invented_sentence_is_reported() -> None:
    found = grounded(
        "The deal had been under review by regulators since 2019. The moon is made of cheese.", DEAL
    )
    assert (found.label, found.sentence_count, found.grounded_sentences) == ("LOW", 2, 1)


def test_refusals_headings_and_questions_claim_nothing() -> None:
    found = grounded("# Answer\nIn short:\nThe passages do not say who.\nShall I go on?\n---\nIt is.", DEAL)
    assert (found.score, found.label, found.has_warning, found.sentence_count) == (None, None, False, 0)
    assert {sentence.grounded for sentence in found.sentences} == {None}
    assert {sentence.reason for sentence in found.sentences} == {None}


def test_without_passages_every_claim_is_unsupported() -> None:
    found = grounded("The deal closed. It was good.")
    assert (found.score, found.label) == (0.0, "LOW")
    assert [sentence.reason for sentence in found.sentences] == ["no_support", "no_support"]


def test_an_empty_answer_and_a_refusal_have_no_score() -> None:
    assert grounded("", DEAL).sentences == grounded(" \n ", DEAL).sentences == []
    assert grounded("", DEAL).score is None
    assert grounded(NO_ANSWER, DEAL).score is None


def test_the_json_has_the_fields_of_the_contract() -> None:
    found = ground("The deal closed.", [Passage(frame=7, text="Then: The deal closed.")])
    assert found.model_dump() == {
        "score": 1.0,
        "label": "HIGH",
        "sentence_count": 1,
        "grounded_sentences": 1,
        "has_warning": False,
        "method": "terms-2",
        "unread_characters": {"answer": 0, "passages": 0},
        "sentences": [
            {
                "text": "The deal closed.",
                "start": 0,
                "end": 16,
                "score": 1.0,
                "grounded": True,
                "frame": 7,
                "reason": None,
                "passage_start": 0,
                "passage_end": 22,
                "swapped": False,
                "partly": False,
                "missing": [],
            }
        ],
    }


@pytest.mark.parametrize("unit", ["1,", "`a", "A ", "not ", "Acme bought Beta, "])
def test_an_answer_of_one_endless_sentence_is_scored_within_seconds(unit: str) -> None:
    answer = unit * (30_000 // len(unit))
    started = time.process_time()
    grounded(answer, answer[:-10] + " end")
    assert time.process_time() - started < 20


def test_a_sentence_that_says_the_opposite_and_adds_a_number_contradicts() -> None:
    passage = "Saver tickets cannot be changed or refunded, except after a cancellation by the carrier."
    found = grounded("Saver tickets can be changed for a fee of 15 euros.", passage).sentences[0]
    assert (found.reason, found.frame is not None, found.missing) == ("negation", True, ["fee", "15 euros"])
