"""Which turns are told within a budget: laws."""

from hypothesis import given
from hypothesis import strategies as st

from timemachine.memory.transcripts.pure.selection import UNANNOTATED, Candidate, fitting, gaps

TURNS = st.lists(st.tuples(st.none() | st.floats(0, 1), st.integers(0, 50), st.booleans()), max_size=30).map(
    lambda rows: (
        [
            Candidate(sequence=at, importance=importance, tokens=tokens)
            for at, (importance, tokens, asked_for) in enumerate(rows, start=1)
            if asked_for
        ],
        len(rows),
    )
)


@given(TURNS, st.integers(0, 400), st.integers(0, 9))
def test_what_is_told_fits_with_its_marks_in_order_and_is_everything_where_that_fits(
    turns: tuple[list[Candidate], int], budget: int, mark: int
) -> None:
    found, last = turns
    told = fitting(found, budget, last=last, mark_tokens=mark)
    sequences = [turn.sequence for turn in told]
    assert sequences == sorted(set(sequences))
    missing = list(gaps(sequences, last))
    assert sum(missing) + len(told) == last
    assert not told or sum(turn.tokens for turn in told) + mark * sum(map(bool, missing)) <= budget
    all_marks = sum(map(bool, gaps([turn.sequence for turn in found], last)))
    if sum(turn.tokens for turn in found) + mark * all_marks <= budget:
        assert told == found


@given(TURNS, st.integers(0, 400))
def test_no_turn_is_passed_over_for_a_lesser_one_of_its_size(
    turns: tuple[list[Candidate], int], budget: int
) -> None:
    found, last = turns
    told = fitting(found, budget, last=last, mark_tokens=0)

    def rank(turn: Candidate) -> tuple[float, int]:
        return (UNANNOTATED if turn.importance is None else turn.importance), turn.sequence

    for left in found:
        if left not in told:
            assert not any(rank(other) < rank(left) and other.tokens >= left.tokens for other in told)


def test_a_lesser_turn_that_fits_with_its_marks_is_told_where_the_best_does_not() -> None:
    turns = [
        Candidate(sequence=2, importance=0.97, tokens=30),
        Candidate(sequence=4, importance=0.95, tokens=17),
        Candidate(sequence=6, importance=0.92, tokens=20),
    ]
    told = fitting(turns, 40, last=6, mark_tokens=8)
    assert [turn.sequence for turn in told] == [4]
    assert [turn.sequence for turn in fitting(turns, 46, last=6, mark_tokens=8)] == [2]


def test_a_turn_that_is_passed_over_fits_once_its_neighbours_are_told() -> None:
    turns = [Candidate(sequence=n, importance=0.9 - n / 100, tokens=4) for n in (1, 2, 3)]
    told = fitting(turns, 20, last=9, mark_tokens=8)
    assert [turn.sequence for turn in told] == [1, 2, 3]
