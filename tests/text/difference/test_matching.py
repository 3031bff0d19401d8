from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.text.pure.difference.answers import SentenceIndex


def test_the_sentence_with_the_most_terms_comes_first_and_the_shorter_one_wins_a_tie() -> None:
    index = SentenceIndex([["a", "b", "c", "d"], ["a"], ["a", "b"], ["x"]])
    assert index.matches(["a", "b"], 5) == [2, 0, 1]


def test_a_rare_term_counts_more_than_a_common_one_and_an_unknown_one_most() -> None:
    index = SentenceIndex([["a", "b"], ["a"], ["a"]])
    assert 1 < index.term_weight("a") < index.term_weight("b") < index.term_weight("unknown") <= 2


def test_terms_in_no_sentence_match_nothing() -> None:
    assert SentenceIndex([["a"]]).matches(["b"], 1) == []
    assert SentenceIndex([]).matches(["b"], 1) == []
    assert SentenceIndex([["a"]]).matches([], 1) == []


def test_a_term_in_hundreds_of_sentences_is_looked_up_only_if_the_query_has_no_rarer_one() -> None:
    index = SentenceIndex([["the"]] * 300 + [["the", "rare"]])
    assert index.matches(["the", "rare"], 3) == [300]
    assert index.matches(["the"], 2) == [0, 1]


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=4), min_size=1, max_size=6))
def test_a_sentence_contains_itself_entirely(found: list[list[str]]) -> None:
    index = SentenceIndex(found)
    for keys in found:
        assert set(keys) == set(found[index.matches(keys, 1)[0]])
