"""Laws of selecting turns within a budget."""

from hypothesis import given
from hypothesis import strategies as st

from timemachine.memory.transcripts.pure.selection import UNANNOTATED, Candidate, fitting, gaps

TURNS = st.lists(st.tuples(st.none() | st.floats(0, 1), st.integers(0, 50), st.booleans()), max_size=30).map(
    lambda rows: (
        [
            Candidate(sequence=at, importance=importance, tokens=tokens)
            for at, (importance, tokens, is_candidate) in enumerate(rows, start=1)
            if is_candidate
        ],
        len(rows),
    )
)


@given(TURNS, st.integers(0, 400), st.integers(0, 9))
def test_a_selection_fits_with_its_gap_marks_in_order_and_is_complete_if_that_fits(
    turns: tuple[list[Candidate], int], budget: int, mark: int
) -> None:
    found, last = turns
    selected = fitting(found, budget, last=last, mark_tokens=mark)
    sequences = [turn.sequence for turn in selected]
    assert sequences == sorted(set(sequences))
    missing = list(gaps(sequences, last))
    assert sum(missing) + len(selected) == last
    assert not selected or sum(turn.tokens for turn in selected) + mark * sum(map(bool, missing)) <= budget
    all_marks = sum(map(bool, gaps([turn.sequence for turn in found], last)))
    if sum(turn.tokens for turn in found) + mark * all_marks <= budget:
        assert selected == found


@given(TURNS, st.integers(0, 400))
def test_no_turn_is_skipped_for_a_less_important_one_of_its_size(
    turns: tuple[list[Candidate], int], budget: int
) -> None:
    found, last = turns
    selected = fitting(found, budget, last=last, mark_tokens=0)

    def rank(turn: Candidate) -> tuple[float, int]:
        return (UNANNOTATED if turn.importance is None else turn.importance), turn.sequence

    for unselected in found:
        if unselected not in selected:
            assert not any(
                rank(other) < rank(unselected) and other.tokens >= unselected.tokens for other in selected
            )


def test_a_less_important_turn_is_selected_if_the_best_does_not_fit_with_its_marks() -> None:
    turns = [
        Candidate(sequence=2, importance=0.97, tokens=30),
        Candidate(sequence=4, importance=0.95, tokens=17),
        Candidate(sequence=6, importance=0.92, tokens=20),
    ]
    selected = fitting(turns, 40, last=6, mark_tokens=8)
    assert [turn.sequence for turn in selected] == [4]
    assert [turn.sequence for turn in fitting(turns, 46, last=6, mark_tokens=8)] == [2]


def test_a_skipped_turn_is_selected_once_its_neighbours_are() -> None:
    turns = [Candidate(sequence=n, importance=0.9 - n / 100, tokens=4) for n in (1, 2, 3)]
    selected = fitting(turns, 20, last=9, mark_tokens=8)
    assert [turn.sequence for turn in selected] == [1, 2, 3]
