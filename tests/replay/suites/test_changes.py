"""Changes between two suite runs: the kind of change of a step, and that every step is reported once."""

from collections import Counter
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from timemachine.core.pure.verdicts import VERDICTS
from timemachine.replay.suites.pure.changes import (
    CHANGES,
    UNCHANGED,
    StepChange,
    StepFact,
    change_of,
    changes,
    findings,
    paired_models,
)

SESSION, REPLAY = UUID(int=1), UUID(int=2)


def fact(**more: Any) -> StepFact:
    facts: dict[str, Any] = {"session": SESSION, "arm": 1, "sequence": 1, "replay": REPLAY}
    return StepFact(**facts | {"verdict": "identical", "context": "verified", "answer": "a"} | more)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({}, {}, "same"),
        ({}, {"cost_usd": 1.0, "took_ms": 9.0, "model": "m"}, "same"),
        ({}, {"status": "running"}, "under_way"),
        ({}, {"status": "skipped", "verdict": None}, "not_reached"),
        ({}, {"status": "cancelled", "verdict": None}, "not_reached"),
        ({"status": "skipped", "verdict": None}, {}, "reached_again"),
        ({"status": "skipped"}, {"status": "cancelled"}, "same"),
        ({}, {"status": "failed", "verdict": "error"}, "new_failure"),
        ({}, {"verdict": "error"}, "new_failure"),
        ({"status": "failed"}, {}, "failure_gone"),
        ({"status": "failed"}, {"status": "failed", "error": "another"}, "same"),
        ({}, {"verdict": "reworded"}, "worse"),
        ({"verdict": "numbers_differ"}, {"verdict": "adds"}, "better"),
        ({"verdict": "numbers_differ"}, {"verdict": "names_differ"}, "other_verdict"),
        ({}, {"verdict": "newly_answered"}, "other_verdict"),
        ({}, {"verdict": None}, "other_verdict"),
        ({}, {"context": "altered"}, "worse"),
        ({"context": "missing"}, {}, "better"),
        ({}, {"context": "missing", "verdict": None}, "worse"),
        ({"context": "missing"}, {"verdict": "reworded"}, "other_verdict"),
        ({"retrieval": "same"}, {"retrieval": "changed"}, "worse"),
        ({"retrieval": "changed"}, {"retrieval": "reordered"}, "better"),
        ({"verdict": "adds"}, {"verdict": "adds", "answer": "b"}, "answer_differs"),
        (
            {"retrieval": "changed", "passages": "a"},
            {"retrieval": "changed", "passages": "b"},
            "passages_differ",
        ),
    ],
)
def test_each_step_has_one_kind_of_change(before: dict[str, Any], after: dict[str, Any], change: str) -> None:
    assert change_of(fact(**before), fact(**after)) == change


def test_every_verdict_further_from_the_recording_is_worse() -> None:
    change = {each: change_of(fact(), fact(verdict=each)) for each in VERDICTS}
    not_worse = {each: name for each, name in change.items() if name != "worse"}
    assert not_worse == {
        "identical": "same",
        "newly_answered": "other_verdict",
        "not_recorded": "other_verdict",
        "error": "new_failure",
    }


def test_added_and_removed_steps_are_reported() -> None:
    found = changes([fact(sequence=1), fact(sequence=2)], [fact(sequence=2), fact(sequence=3)], {1: 1})
    assert [(each.change, each.step.sequence) for each in found] == [
        ("same", 2),
        ("new_step", 3),
        ("step_gone", 1),
    ]
    assert (found[1].cost_change, found[2].took_change) == (None, None)


def test_a_change_needs_at_least_one_step() -> None:
    with pytest.raises(ValueError, match=r"^$"):
        _ = StepChange(change="same", before=None, after=None).step


def test_money_and_time_are_compared_only_if_both_are_known() -> None:
    before = [
        fact(sequence=1, model="m", cost_usd=0.25, took_ms=10.0),
        fact(sequence=2, model="m", cost_usd=0.5),
        fact(sequence=3, model="m"),
        fact(sequence=4),
    ]
    after = [
        fact(sequence=1, model="m", cost_usd=0.75, took_ms=30.0),
        fact(sequence=2, model="m", cost_usd=0.5, took_ms=5.0),
        fact(sequence=3, model="m", cost_usd=9.0),
        fact(sequence=4),
    ]
    found = changes(before, after, {1: 1})
    assert [each.cost_change for each in found] == [0.5, 0.0, None, None]
    assert [each.took_change for each in found] == [20.0, None, None, None]
    reported = findings(found)
    assert (reported.cost.steps, reported.cost.before, reported.cost.after) == (2, 0.75, 1.25)
    assert (reported.took.steps, reported.took.before, reported.took.after) == (1, 10.0, 30.0)
    assert (reported.cost_unknown, reported.counts) == (1, {"same": 4})


@pytest.mark.parametrize(
    ("before", "after", "paired"),
    [
        ([None], [None], {1: 1}),
        (["a"], ["b"], {1: 1}),
        (["a", "b"], ["b", "a"], {1: 2, 2: 1}),
        (["a", "b"], ["b", "c"], {1: 2, 2: 1}),
        (["a"], ["a", "b"], {1: 1}),
        (["a", "b"], ["c"], {1: 1}),
    ],
)
def test_variants_are_matched_by_model_and_then_by_order(
    before: list[str | None], after: list[str | None], paired: dict[int, int]
) -> None:
    assert paired_models(before, after) == paired


FACTS = st.builds(
    StepFact,
    session=st.integers(0, 2).map(lambda number: UUID(int=number)),
    arm=st.integers(1, 3),
    sequence=st.integers(1, 4),
    replay=st.just(REPLAY),
    status=st.sampled_from(["done", "done", "failed", "skipped", "cancelled"]),
    verdict=st.sampled_from([None, "identical", "reworded", "adds", "refused", "error", "newly_answered"]),
    context=st.sampled_from([None, "verified", "altered", "not_recorded"]),
    retrieval=st.sampled_from([None, "same", "reordered", "changed"]),
    answer=st.sampled_from([None, "a", "b"]),
    cost_usd=st.sampled_from([None, 0.0, 0.25]),
    took_ms=st.sampled_from([None, 1.0, 2.0]),
)
RUNS = st.lists(FACTS, unique_by=lambda each: each.place, max_size=12)
ONE_TO_ONE = {1: 1, 2: 2, 3: 3}
OPPOSITE = {
    "better": "worse",
    "worse": "better",
    "new_failure": "failure_gone",
    "failure_gone": "new_failure",
    "not_reached": "reached_again",
    "reached_again": "not_reached",
    "new_step": "step_gone",
    "step_gone": "new_step",
}


@settings(max_examples=25)
@given(RUNS)
def test_a_run_compared_with_itself_shows_no_change(run: list[StepFact]) -> None:
    assert not set(findings(changes(run, run, ONE_TO_ONE)).counts) - set(UNCHANGED)


@settings(max_examples=25)
@given(RUNS, RUNS)
def test_every_step_of_either_run_is_reported_once(before: list[StepFact], after: list[StepFact]) -> None:
    found = changes(before, after, ONE_TO_ONE)
    assert [each.after for each in found if each.after] == after
    seen = sorted((each.before.place for each in found if each.before), key=str)
    assert seen == sorted((each.place for each in before), key=str)
    assert sum(findings(found).counts.values()) == len({each.place for each in [*before, *after]})
    assert {each.change for each in found} <= set(CHANGES)


@settings(max_examples=25)
@given(RUNS, RUNS)
def test_swapping_the_runs_reverses_every_change(before: list[StepFact], after: list[StepFact]) -> None:
    there = Counter(each.change for each in changes(before, after, ONE_TO_ONE))
    back = Counter(each.change for each in changes(after, before, ONE_TO_ONE))
    assert back == {OPPOSITE.get(change, change): number for change, number in there.items()}


@settings(max_examples=25)
@given(RUNS, RUNS)
def test_money_adds_up(before: list[StepFact], after: list[StepFact]) -> None:
    found = changes(before, after, ONE_TO_ONE)
    cost = findings(found).cost
    differences = [each.cost_change for each in found if each.cost_change is not None]
    assert len(differences) == cost.steps
    if cost.before is not None and cost.after is not None:
        assert cost.after - cost.before == pytest.approx(sum(differences))


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from([None, *"abcd"]), unique=True),
    st.lists(st.sampled_from([None, *"abcd"]), unique=True),
)
def test_no_variant_is_matched_twice(before: list[str | None], after: list[str | None]) -> None:
    paired = paired_models(before, after)
    assert len(set(paired.values())) == len(paired) == min(len(before), len(after))
    for arm, other in paired.items():
        if after[arm - 1] in before:
            assert before[other - 1] == after[arm - 1]


def test_a_run_with_a_changed_model_is_still_compared_step_by_step() -> None:
    before, after = [fact(model="a")], [fact(model="b", verdict="reworded")]
    assert [each.change for each in changes(before, after, paired_models(["a"], ["b"]))] == ["worse"]
    assert [each.change for each in changes(before, [replace(after[0], arm=2)], {})] == [
        "new_step",
        "step_gone",
    ]
