import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.text.pure.grounding import bounds
from timemachine.text.pure.grounding.passages import Passage
from timemachine.text.pure.grounding.support import ground

FACT = "The harbour bridge carries eight lanes of traffic."
OTHER = "The ferry was sold to a company in Norway."
texts = st.lists(
    st.sampled_from([FACT, OTHER, "Is it so?", " ", "\n", "1.", "e.g. one", "日本。"]), max_size=8
).map(" ".join)


@given(texts, st.integers(0, 200), st.integers(0, 6))
def test_text_is_read_from_its_beginning_up_to_the_bounds(text: str, characters: int, most: int) -> None:
    read = bounds.beginning(text, characters, most)
    assert "".join(each.text for each in read) == text[: bounds.length(read)]
    assert bounds.length(read) <= characters
    assert len(read) <= most


@given(texts)
def test_a_text_within_the_bounds_is_read_completely(text: str) -> None:
    assert bounds.length(bounds.beginning(text, len(text), len(text))) == len(text)


@given(st.lists(texts, max_size=5))
def test_the_total_that_is_read_never_exceeds_the_limit(found: list[str]) -> None:
    answer, *passages = found or [""]
    read = [bounds.beginning(answer, bounds.ANSWER, bounds.ANSWER_SENTENCES), *bounds.beginnings(passages)]
    assert sum(map(bounds.length, read)) <= bounds.readable(answer, passages) <= bounds.REQUEST


@pytest.mark.parametrize(
    "answer",
    [
        f"{FACT}\n" * 600,
        f"{FACT} " * 30_000,
        "the bridge carries traffic and " * 30_000,
        "x" * 1_000_000,
        "1,2 " * 250_000,
        "’" * 100_000,
        "not " * 100_000,
    ],
)
def test_an_answer_that_was_not_read_completely_is_never_high_and_is_marked(answer: str) -> None:
    found = ground(answer, [Passage(frame=1, text=answer), Passage(frame=2, text=FACT)])
    assert found.label != "HIGH"
    assert len(found.sentences) <= bounds.ANSWER_SENTENCES
    assert found.unread_characters.answer > 0
    end = len(answer) - found.unread_characters.answer
    assert 0 < end <= bounds.ANSWER
    assert found.sentences[-1].end <= end


@pytest.mark.parametrize("extra", [1, 7])
def test_a_sentence_cut_by_the_end_is_left_out(extra: int) -> None:
    complete = f"{FACT} " * (bounds.ANSWER // (len(FACT) + 1))
    answer = complete + OTHER + " Yes." * extra
    found = ground(answer, [Passage(frame=1, text=FACT)])
    assert {each.text for each in found.sentences} == {FACT}
    assert found.score == 0.69


def test_passages_are_read_until_the_total_limit_is_used_up() -> None:
    long = f"{OTHER} " * 1_000
    cut = ground(FACT, [Passage(frame=1, text=long + FACT)])
    assert (cut.sentences[0].reason, cut.unread_characters.answer) == ("no_support", 0)
    assert 0 < cut.unread_characters.passages <= len(long) + len(FACT) - bounds.PASSAGE + len(OTHER)
    many = [Passage(frame=frame, text=long) for frame in range(9)]
    last = ground(FACT, [*many, Passage(frame=9, text=FACT)])
    assert last.sentences[0].grounded is False
    first = ground(FACT, [Passage(frame=9, text=FACT), *many])
    assert (first.label, first.sentences[0].frame) == ("HIGH", 9)
    assert first.unread_characters.passages > 0


def test_nothing_within_the_bounds_is_left_unread() -> None:
    found = ground(FACT, [Passage(frame=1, text=OTHER), Passage(frame=2, text=FACT)])
    assert found.model_dump()["unread_characters"] == {"answer": 0, "passages": 0}
    assert found.label == "HIGH"


def test_the_best_of_very_many_passages_is_found() -> None:
    like = [Passage(frame=frame, text=f"The harbour bridge carries {frame} lanes.") for frame in range(40)]
    found = ground(FACT, [*like, Passage(frame=40, text=f"Also: {FACT[:-1]} today.")])
    assert (found.label, found.sentences[0].frame) == ("HIGH", 40)
