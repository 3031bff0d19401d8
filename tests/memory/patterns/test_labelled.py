"""Errors labelled by people as the same problem or different ones, grouped like in the product."""

from itertools import combinations
from pathlib import Path

import pytest

from tests.memory.transcripts.labelled import LabelledError, labelled_errors, labelled_pairs, sessions_of
from timemachine.memory.patterns.pure.grouping import grouped
from timemachine.memory.patterns.pure.step_texts import Step, failure_lines, failure_of
from timemachine.memory.patterns.pure.wording import Wording, wording_of

pytestmark = pytest.mark.recordings
LEAST_PRECISION = 0.9
LEAST_RECALL = 0.85


def wording(error: LabelledError, recordings: Path) -> Wording:
    """Return the wording of the error as the importer makes it. A turn that our rules do not see as an error is compared by its words."""
    session = sessions_of(error.path(recordings), error.set)[error.run or 0]
    action = next(each for each in session.actions if each.id == error.action_id)
    step = Step(
        kind=action.kind,
        layer=action.layer,
        role=action.role,
        significance=action.significance,
        output=action.output,
    )
    raw = failure_of(step) or failure_lines(str(action.output))
    found = wording_of(raw, action.tool)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def same_pattern(recordings: Path) -> set[frozenset[str]]:
    """Return the pairs of errors that are one pattern."""
    errors = labelled_errors()
    wordings = {name: wording(error, recordings) for name, error in errors.items()}
    found = grouped(wordings)
    return {frozenset(pair) for pair in combinations(errors, 2) if found[pair[0]] == found[pair[1]]}


def test_grouped_errors_are_the_same_problem_and_few_such_pairs_are_missed(
    same_pattern: set[frozenset[str]],
) -> None:
    same = {frozenset({pair.one, pair.other}) for pair in labelled_pairs() if pair.label == "same"}
    precision = len(same_pattern & same) / len(same_pattern)
    recall = len(same_pattern & same) / len(same)
    print(f"precision {precision:.3f}, recall {recall:.3f} of {len(same)} pairs")
    assert precision >= LEAST_PRECISION
    assert recall >= LEAST_RECALL


def test_missed_pairs_are_labelled_mistakes_without_common_words(
    same_pattern: set[frozenset[str]],
) -> None:
    errors = labelled_errors()
    missed = [
        (pair.one, pair.other)
        for pair in labelled_pairs()
        if pair.label == "same" and frozenset({pair.one, pair.other}) not in same_pattern
    ]
    assert {errors[name].kind for pair in missed for name in pair} == {"labelled_mistake"}


def test_no_pair_labelled_different_is_grouped(same_pattern: set[frozenset[str]]) -> None:
    different = {frozenset({pair.one, pair.other}) for pair in labelled_pairs() if pair.label == "different"}
    assert same_pattern & different == set()
