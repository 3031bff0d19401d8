from itertools import permutations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from timemachine.text.pure.grounding.passages import Passage
from timemachine.text.pure.grounding.schemas import GroundingOut
from timemachine.text.pure.grounding.support import ground

STATED = [
    "The pump was replaced in March 2021 for 12,000 euros.",
    "Regulators approved the merger after a long review.",
    "The bridge carries 40,000 cars on a weekday.",
    "Nobody was hurt when the crane fell.",
    "Copper conducts heat better than steel.",
    "Dr. Ito leads the laboratory in Kyoto.",
]
ANSWERS = [
    *STATED,
    "In March 2021 the pump was replaced.",
    "The merger was approved.",
    "The bridge carries 50,000 cars.",
    "The crane fell and three workers were hurt.",
    "Steel conducts heat better than copper.",
    "Grapes ripen in September.",
    "I hope this helps!",
]
answers = st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=4, unique=True).map("\n".join)
passages = st.lists(
    st.lists(st.sampled_from(STATED), min_size=1, max_size=3).map(" ".join), min_size=1, max_size=4
)


def grounded(answer: str, texts: list[str]) -> GroundingOut:
    return ground(answer, [Passage(frame=text, text=text) for text in texts])


@settings(deadline=None)
@given(answers, passages, st.lists(st.sampled_from(STATED), min_size=1, max_size=3).map(" ".join))
def test_another_passage_never_lowers_the_support_of_a_sentence_unless_it_contradicts_it(
    answer: str, texts: list[str], further: str
) -> None:
    before, after = grounded(answer, texts), grounded(answer, [*texts, further])
    for one, other in zip(before.sentences, after.sentences, strict=True):
        assert (one.score is None) == (other.score is None)
        if one.score is not None and other.score is not None and not other.against:
            assert other.score >= one.score


@settings(deadline=None)
@given(answers, passages)
def test_the_order_of_the_passages_changes_no_score(answer: str, texts: list[str]) -> None:
    scores = {
        (found.score, tuple(each.score for each in found.sentences))
        for found in (grounded(answer, list(order)) for order in permutations(texts))
    }
    assert len(scores) == 1


@settings(deadline=None)
@given(answers)
def test_a_text_is_highly_supported_by_itself(text: str) -> None:
    found = grounded(text, [text])
    assert found.score in (None, 1.0)
    assert found.grounded_sentences == found.sentence_count


@settings(deadline=None)
@given(answers, passages)
def test_an_answer_is_supported_no_better_than_any_of_its_sentences_alone(
    answer: str, texts: list[str]
) -> None:
    complete = grounded(answer, texts)
    alone = [grounded(each.text, texts).score for each in complete.sentences]
    counted = [score for score in alone if score is not None]
    assert (complete.score is None) == (not counted)
    if complete.score is not None:
        assert complete.score <= min(counted) + 1e-4


@pytest.mark.parametrize("answer", ANSWERS)
def test_duplicate_passages_change_nothing(answer: str) -> None:
    assert grounded(answer, STATED) == grounded(answer, list(STATED))
    large = ["x. " * 30_000, *STATED]
    assert grounded(answer, large).sentences[0].score == grounded(answer, STATED).sentences[0].score


scribbles = st.text() | st.text("`*[]{}().…’'\"#~$-1a S\n", max_size=60)


@settings(deadline=None, max_examples=100)
@given(scribbles, st.lists(scribbles, max_size=3))
@example("Use `*` to select all columns.", ["x `[]` y."])
def test_any_answer_with_any_passages_has_a_score_or_claims_nothing(answer: str, texts: list[str]) -> None:
    score = grounded(answer, texts).score
    assert score is None or 0 <= score <= 1
